/**
 * The login that is looked at, as a sequence diagram: one lane each for the client and whom it asked, two arrows a request.
 */
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { Place } from '../src/journal/exchange.ts'
import { ExchangeRow } from './exchange-row.tsx'
import { nameOf, type Login } from './logins.ts'
import { counted, elapsed, moment, placeNames } from './words.ts'

/** Requests at a time: a family of tokens may have thousands of refreshes. */
const maxShown = 60
const placeOrder: readonly Place[] = ['home', 'regional', 'owner-api']

interface LoginProps<Known> {
  readonly login: Known
  /** A login changes in place: another number says that it has. */
  readonly revision: number
}

export function LoginView({ login, revision }: LoginProps<Login | undefined>): VNode {
  return (
    <main class="login" id="login" tabIndex={-1}>
      {login ? (
        <LoginSheet key={login.number} login={login} revision={revision} />
      ) : (
        <div class="welcome">
          <h2>No request yet</h2>
          <p>Point a client at this emulator and sign in. Each login appears here as it happens.</p>
          <p class="mono">{location.origin}</p>
        </div>
      )}
    </main>
  )
}

function LoginSheet({ login }: LoginProps<Login>): VNode {
  const wanted = useSignal(maxShown)
  const lines = [...login.exchanges.values()]
  const [first] = lines
  const last = lines.at(-1)
  const began = first?.started ?? 0
  const span = last ? last.started + (last.duration ?? 0) - began : 0
  const places = placeOrder.filter((place) => lines.some((line) => line.place === place))
  const lanes = places.length + 1
  const hidden = lines.length - wanted.value
  return (
    <>
      <div class="login-head">
        <h2>{nameOf(login)}</h2>
        <p class="soft">
          {login.number > 0 && `Login ${login.number} · `}
          {counted(lines.length, 'request')} · began {moment(began)} · {elapsed(span)}
        </p>
      </div>
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
            <button type="button" class="button" onClick={() => (wanted.value += maxShown)}>
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
          {lines.slice(-wanted.value).map((line) => (
            <ExchangeRow key={line.id} line={line} lane={places.indexOf(line.place) + 1} after={line.started - began} />
          ))}
        </ol>
      </div>
    </>
  )
}
