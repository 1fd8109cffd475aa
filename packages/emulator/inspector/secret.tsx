/**
 * A masked value: a click fetches and shows it, another one forgets it.
 */
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { maskText } from '../src/support/mask.ts'
import { exchangeSecrets, Refusal } from './api.ts'
import { entriesOf } from './fields.ts'

interface SecretProps {
  readonly id: number
  readonly field: string
  readonly masked: string
  readonly side: 'request' | 'answer'
  readonly part: 'query' | 'headers' | 'body'
}

export function Secret({ id, field, masked, side, part }: SecretProps): VNode {
  const revealed = useSignal<string | undefined>(undefined)
  const toggle = async (): Promise<void> => {
    if (revealed.value !== undefined) {
      revealed.value = undefined
      return
    }
    try {
      const secrets = await exchangeSecrets(id)
      revealed.value = new Map(entriesOf(secrets[side], part)).get(field) ?? 'not kept'
    } catch (error) {
      revealed.value = error instanceof Refusal ? 'no longer kept' : 'could not be fetched'
    }
  }
  return (
    <>
      <span class={revealed.value === undefined ? 'masked' : 'revealed'}>
        {revealed.value ?? masked.replaceAll(maskText, '••••••')}
      </span>{' '}
      <button
        type="button"
        class="reveal"
        aria-label={`${revealed.value === undefined ? 'Reveal' : 'Hide'} ${field}`}
        onClick={() => void toggle()}
      >
        {revealed.value === undefined ? 'Reveal' : 'Hide'}
      </button>
    </>
  )
}
