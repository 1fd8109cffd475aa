/**
 * The list of logins, the youngest first, as far as a person reads; older ones are found by a word.
 */
import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals'
import type { VNode } from 'preact'
import { nameOf, summaryOf, type Login, type Logins } from './logins.ts'
import { counted, timeOfDay } from './words.ts'

const maxShown = 100

interface LoginListProps {
  readonly logins: Logins
  readonly selected: ReadonlySignal<number | undefined>
  readonly following: ReadonlySignal<boolean>
  readonly onPick: (number: number) => void
  readonly onFollow: (on: boolean) => void
}

export function LoginList({ logins, selected, following, onPick, onFollow }: LoginListProps): VNode {
  const wanted = useSignal('')
  const found = useComputed(() => {
    void logins.revision.value
    const needle = wanted.value.trim().toLowerCase()
    return logins.all().filter((login) => needle === '' || isAbout(login, needle))
  })
  const rows = found.value.slice(0, maxShown)
  const older = found.value.length - rows.length
  return (
    <nav class="logins" aria-label="Logins">
      <div class="logins-head">
        <h2>{counted(found.value.length, 'login')}</h2>
        <label class="switch">
          <input
            type="checkbox"
            checked={following.value}
            onChange={({ currentTarget }) => onFollow(currentTarget.checked)}
          />
          Follow the newest
        </label>
        <input
          type="search"
          class="search"
          placeholder="Find an account, a decision …"
          aria-label="Find logins"
          value={wanted.value}
          onInput={({ currentTarget }) => {
            wanted.value = currentTarget.value
          }}
        />
      </div>
      <ol class="login-rows" aria-label="Logins, the newest first">
        {rows.map((login) => (
          <LoginRow
            key={login.number}
            login={login}
            selected={login.number === selected.value}
            onPick={() => onPick(login.number)}
          />
        ))}
        {older > 0 && <li class="empty">{counted(older, 'older login')}: find them by a word.</li>}
        {rows.length === 0 && <li class="empty">{wanted.value === '' ? 'No request yet.' : 'Nothing found.'}</li>}
      </ol>
    </nav>
  )
}

interface LoginRowProps {
  readonly login: Login
  readonly selected: boolean
  readonly onPick: () => void
}

/** Whose login it is, when it began, how it went, what struck. */
function LoginRow({ login, selected, onPick }: LoginRowProps): VNode {
  const { count, started, faults, challenges, outcome, pending } = summaryOf(login)
  return (
    <li>
      <button type="button" class="login-row" aria-current={selected} onClick={onPick}>
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
            <span class="chip" title={counted(count, 'request')}>
              {count}
              <span class="unseen"> {count === 1 ? 'request' : 'requests'}</span>
            </span>
          </span>
        </span>
      </button>
    </li>
  )
}

function isAbout(login: Login, needle: string): boolean {
  if (nameOf(login).toLowerCase().includes(needle)) return true
  for (const { decision, fault, path } of login.exchanges.values()) {
    if (`${decision ?? ''} ${fault ?? ''} ${path}`.toLowerCase().includes(needle)) return true
  }
  return false
}
