/**
 * All that was said in one exchange, secrets masked: fetched when it is opened.
 */
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Exchange, LoggedRequest } from '../src/journal/exchange.ts'
import { maskText } from '../src/support/plain-fields.ts'

interface ExchangeSheetProps {
  readonly id: number
  readonly answered: boolean
}

export function ExchangeSheet({ id, answered }: ExchangeSheetProps): VNode {
  const detail = useSignal<Exchange | undefined>(undefined)
  const problem = useSignal('')
  useEffect(() => {
    const read = async (): Promise<void> => {
      const answer = await fetch(`/_emulator/exchanges/${id}`)
      const json: Exchange & { readonly error_description?: string } = await answer.json()
      if (answer.ok) detail.value = json
      else problem.value = json.error_description ?? `The emulator answered ${answer.status}`
    }
    read().catch(() => (problem.value = 'It could not be fetched'))
  }, [id, answered])

  const shown = detail.value
  return (
    <div class="sheet" id={`exchange-${id}`}>
      {problem.value !== '' && <p role="alert">{problem.value}</p>}
      {shown && (
        <>
          <Side title="Request" note={transportOf(shown.request)} parts={shown.request} />
          <Side title="Answer" note={shown.answer ? `status ${shown.answer.status}` : 'none'} parts={shown.answer} />
        </>
      )}
    </div>
  )
}

interface SideProps {
  readonly title: string
  readonly note: string
  readonly parts: { readonly query?: object; readonly body: object; readonly headers: object } | undefined
}

function Side({ title, note, parts }: SideProps): VNode {
  return (
    <section>
      <h3>
        {title} <span class="soft">{note}</span>
      </h3>
      {(['query', 'body', 'headers'] as const).map((name) => {
        const entries = entriesOf(parts?.[name])
        if (entries.length === 0) return null
        return (
          <details key={name} open={name !== 'headers'}>
            <summary>{name}</summary>
            <dl>
              {entries.map(([field, value]) => (
                <div key={field}>
                  <dt>{field}</dt>
                  <dd class={value.includes(maskText) ? 'masked' : ''}>{value.replaceAll(maskText, '••••••')}</dd>
                </div>
              ))}
            </dl>
          </details>
        )
      })}
    </section>
  )
}

function transportOf({ host, connection, tlsVersion, httpVersion }: LoggedRequest): string {
  return `${host} · ${tlsVersion ?? 'http'} · HTTP/${httpVersion} · socket ${connection}`
}

/** Values as a flat list of names and texts: `data.valid`, `set-cookie.2`. */
function entriesOf(value: unknown, name = ''): [name: string, value: string][] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
      entriesOf(inner, name === '' ? key : `${name}.${key}`),
    )
  }
  if (name === '' || value === undefined) return []
  return [[name, typeof value === 'string' ? value : JSON.stringify(value)]]
}
