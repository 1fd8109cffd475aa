/**
 * The inspector's page: logins on the left, the one that is looked at beside them, told live by one connection to the emulator.
 */
import { signal, useComputed, useSignal, type ReadonlySignal } from '@preact/signals'
import { render, type VNode } from 'preact'
import type { ExchangeLine } from '../src/inspector/inspector-router.ts'
import { createLogins, nameOf, summaryOf, type Login, type Logins } from './logins.ts'
import { LoginView } from './login-view.tsx'
import { counted, timeOfDay } from './words.ts'

const maxShown = 100

/** Server-sent events into `logins`; false while the browser tries to connect again. */
function connect(logins: Logins): ReadonlySignal<boolean> {
  const live = signal(false)
  const events = new EventSource('/_emulator/events')
  events.addEventListener('open', () => (live.value = true))
  events.addEventListener('error', () => (live.value = false))
  events.addEventListener('reset', () => logins.clear())
  events.addEventListener('exchange', ({ data }: MessageEvent<string>) => {
    const batch: ExchangeLine[] = JSON.parse(data)
    logins.apply(batch)
  })
  return live
}

function App({ logins, live }: { readonly logins: Logins; readonly live: ReadonlySignal<boolean> }): VNode {
  const picked = useSignal<number | undefined>(undefined)
  // The newest is followed until another is picked, and again once the newest is.
  const selected = useComputed(() => {
    void logins.revision.value
    const [newest] = logins.all()
    return (picked.value === undefined ? undefined : logins.of(picked.value)) ?? newest
  })
  const pick = ({ number }: Login): void => {
    picked.value = number === logins.all()[0]?.number ? undefined : number
  }
  const all = logins.all()
  // Requests without a login come last, and are always there.
  const shown = all.filter(({ number }, index) => index < maxShown || number === 0)
  const older = all.length - shown.length
  return (
    <>
      <a class="skip" href="#login">
        Skip to the login
      </a>
      <header class="head">
        <h1>
          SSO emulator <span class="soft">inspector</span>
        </h1>
        <p class="soft">{counted(logins.size, 'request')}</p>
        <p>
          <a href="/">Accounts and passcodes</a>
        </p>
        <p class={live.value ? 'live on' : 'live'} role="status">
          {live.value ? 'Live' : 'Not connected: trying again'}
        </p>
      </header>
      <div class="columns">
        <nav class="logins" aria-label="Logins">
          <div class="logins-head">
            <h2>{counted(all.length, 'login')}</h2>
          </div>
          <ol class="login-rows" aria-label="Logins, the newest first">
            {shown.map((login) => (
              <LoginRow key={login.number} login={login} selected={login === selected.value} onPick={pick} />
            ))}
            {older > 0 && <li class="empty">{counted(older, 'older login')}.</li>}
            {all.length === 0 && <li class="empty">No request yet.</li>}
          </ol>
        </nav>
        <LoginView login={selected.value} revision={logins.revision.value} />
      </div>
    </>
  )
}

interface LoginRowProps {
  readonly login: Login
  readonly selected: boolean
  readonly onPick: (login: Login) => void
}

/** Whose login it is, when it began, how it went, what struck. */
function LoginRow({ login, selected, onPick }: LoginRowProps): VNode {
  const { count, started, faults, challenges, outcome, pending } = summaryOf(login)
  return (
    <li>
      <button type="button" class="login-row" aria-current={selected} onClick={() => onPick(login)}>
        <span class="login-line">
          <b class="cut">{nameOf(login)}</b>
          <time class="soft" dateTime={new Date(started).toISOString()}>
            {timeOfDay(started)}
          </time>
        </span>
        <span class="login-line">
          <span class="cut soft">{pending ? 'under way …' : outcome || 'no decision'}</span>
          <span class="login-marks">
            {faults > 0 && <span class="chip fault">{counted(faults, 'fault')}</span>}
            {challenges > 0 && <span class="chip firewall">firewall</span>}
            <span class="chip">
              {count}
              <span class="unseen"> {count === 1 ? 'request' : 'requests'}</span>
            </span>
          </span>
        </span>
      </button>
    </li>
  )
}

const allLogins = createLogins()
const root = document.querySelector('#inspector')
if (root) render(<App logins={allLogins} live={connect(allLogins)} />, root)
