/**
 * All that was said in one exchange: fetched when it is opened, its secrets only when they are asked for, one by one.
 */
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import type { ExchangeDetail } from '../src/inspector/exchange-view.ts'
import { maskText } from '../src/support/mask.ts'
import { exchangeDetail, Refusal } from './api.ts'
import { entriesOf } from './fields.ts'
import { Secret } from './secret.tsx'

interface ExchangeSheetProps {
  readonly id: number
  readonly answered: boolean
}

/** Of the query, headers or body, in the order in which they are shown. */
interface Part {
  readonly title: string
  /** Where its values are, in the exchange and in its secrets alike. */
  readonly at: readonly [side: 'request' | 'answer', part: 'query' | 'headers' | 'body']
}

const requestPart: readonly Part[] = [
  { title: 'Query', at: ['request', 'query'] },
  { title: 'Body', at: ['request', 'body'] },
  { title: 'Headers', at: ['request', 'headers'] },
]
const answerPart: readonly Part[] = [
  { title: 'Body', at: ['answer', 'body'] },
  { title: 'Headers', at: ['answer', 'headers'] },
]

export function ExchangeSheet({ id, answered }: ExchangeSheetProps): VNode {
  const detail = useSignal<ExchangeDetail | undefined>(undefined)
  const problem = useSignal('')
  useEffect(() => {
    const read = async (): Promise<void> => {
      try {
        detail.value = await exchangeDetail(id)
      } catch (error) {
        problem.value = error instanceof Refusal ? error.message : 'It could not be fetched'
      }
    }
    void read()
  }, [id, answered])

  const shown = detail.value
  return (
    <div class="sheet" id={`exchange-${id}`}>
      {problem.value !== '' && <p role="alert">{problem.value}</p>}
      {shown && (
        <>
          <Side title="Request" note={transportOf(shown)} detail={shown} parts={requestPart} />
          <Side
            title="Answer"
            note={shown.answer ? `status ${shown.answer.status}` : 'none'}
            detail={shown}
            parts={answerPart}
          />
        </>
      )}
    </div>
  )
}

interface SideProps {
  readonly title: string
  readonly note: string
  readonly detail: ExchangeDetail
  readonly parts: readonly Part[]
}

function Side({ title, note, detail, parts }: SideProps): VNode {
  return (
    <section>
      <h3>
        {title} <span class="soft">{note}</span>
      </h3>
      {parts.map(({ title: name, at: [side, part] }) => {
        const entries = entriesOf(detail[side], part)
        if (entries.length === 0) return null
        return (
          <details key={name} open={part !== 'headers'}>
            <summary>{name}</summary>
            <dl>
              {entries.map(([field, value]) => (
                <div key={field}>
                  <dt>{field}</dt>
                  <dd>
                    {value.includes(maskText) ? (
                      <Secret id={detail.id} field={field} masked={value} side={side} part={part} />
                    ) : (
                      value
                    )}
                  </dd>
                </div>
              ))}
            </dl>
          </details>
        )
      })}
    </section>
  )
}

function transportOf({ host, connection, tlsVersion, httpVersion }: ExchangeDetail): string {
  return `${host} · ${tlsVersion ?? 'http'} · HTTP/${httpVersion} · socket ${connection}`
}
