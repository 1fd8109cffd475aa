/**
 * The login that is looked at: what it is, and its sequence diagram.
 */
import type { ReadonlySignal } from '@preact/signals'
import type { VNode } from 'preact'
import { nameOf, type Login, type Logins } from './logins.ts'
import { SequenceDiagram } from './sequence-diagram.tsx'
import { counted, elapsed, moment } from './words.ts'

interface LoginViewProps {
  readonly logins: Logins
  readonly selected: ReadonlySignal<number | undefined>
}

export function LoginView({ logins, selected }: LoginViewProps): VNode {
  void logins.revision.value
  const login = selected.value === undefined ? undefined : logins.of(selected.value)
  return (
    <main class="login" id="login" tabIndex={-1}>
      {login ? <LoginSheet key={login.number} login={login} /> : <Welcome />}
    </main>
  )
}

function LoginSheet({ login }: { readonly login: Login }): VNode {
  const lines = [...login.exchanges.values()]
  const [first] = lines
  const last = lines.at(-1)
  const span = first && last ? last.started + (last.duration ?? 0) - first.started : 0
  return (
    <>
      <div class="login-head">
        <div>
          <h2>{nameOf(login)}</h2>
          <p class="soft">
            {login.number > 0 && `Login ${login.number} · `}
            {counted(lines.length, 'request')}
            {first && ` · began ${moment(first.started / 1000)}`} · {elapsed(span)}
          </p>
        </div>
      </div>
      <SequenceDiagram lines={lines} />
    </>
  )
}

function Welcome(): VNode {
  return (
    <div class="welcome">
      <h2>No request yet</h2>
      <p>Point a client at this emulator and sign in. Each login appears here as it happens.</p>
      <p class="mono">{location.origin}</p>
    </div>
  )
}
