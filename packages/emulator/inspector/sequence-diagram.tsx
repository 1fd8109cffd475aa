/**
 * A login as a sequence diagram: one lane each for the client and whom it asked, two arrows a request.
 */
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { ExchangeLine } from '../src/inspector/exchange-view.ts'
import type { Place } from '../src/journal/exchange.ts'
import { ExchangeRow } from './exchange-row.tsx'
import { counted, placeNames } from './words.ts'

/** Requests at a time: a family of tokens may have thousands of refreshes. */
const maxShown = 60
const placeOrder: readonly Place[] = ['home', 'regional', 'owner-api']

export function SequenceDiagram({ lines }: { readonly lines: readonly ExchangeLine[] }): VNode {
  const wanted = useSignal(maxShown)
  const asked = new Set(lines.map(({ place }) => place))
  const places = placeOrder.filter((place) => asked.has(place))
  const lanes = places.length + 1
  const shown = lines.slice(-wanted.value)
  const hidden = lines.length - shown.length
  const began = lines[0]?.started ?? 0

  return (
    <div class="diagram" style={{ '--lanes': lanes }}>
      <div class="lanes" aria-hidden="true">
        {['Client', ...places.map((place) => placeNames[place])].map((name) => (
          <span key={name}>
            <b>{name}</b>
          </span>
        ))}
      </div>
      {hidden > 0 && (
        <p class="earlier">
          <button
            type="button"
            class="button"
            onClick={() => {
              wanted.value += maxShown
            }}
          >
            Show earlier requests
          </button>{' '}
          <span class="soft">{counted(hidden, 'earlier request')}</span>
        </p>
      )}
      <div class="lifelines" aria-hidden="true">
        {Array.from({ length: lanes }, (_, lane) => (
          <span key={lane} style={{ '--lane': lane }} />
        ))}
      </div>
      <ol aria-label="Requests, in order">
        {shown.map((line) => (
          <ExchangeRow key={line.id} line={line} lane={places.indexOf(line.place) + 1} after={line.started - began} />
        ))}
      </ol>
    </div>
  )
}
