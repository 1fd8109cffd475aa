/**
 * A login's row in the list: whose it is, when it began, how it went, what struck.
 */
import type { VNode } from 'preact'
import { nameOf, summaryOf, type Login } from './logins.ts'
import { counted, timeOfDay } from './words.ts'

interface LoginRowProps {
  readonly login: Login
  readonly top: number
  readonly position: number
  readonly total: number
  readonly selected: boolean
  readonly onPick: (number: number) => void
}

export function LoginRow({ login, top, position, total, selected, onPick }: LoginRowProps): VNode {
  const { count, started, faults, challenges, outcome, pending } = summaryOf(login)
  return (
    <div
      class="login-row"
      role="option"
      id={`login-${login.number}`}
      aria-selected={selected}
      aria-posinset={position}
      aria-setsize={total}
      style={{ top: `${top}px` }}
      onClick={() => onPick(login.number)}
    >
      <span class="login-line">
        <span class="login-name">{nameOf(login)}</span>
        <time class="soft">{timeOfDay(started)}</time>
      </span>
      <span class="login-line">
        <span class="login-outcome soft">{pending ? 'under way …' : outcome || 'no decision'}</span>
        <span class="login-marks">
          {faults > 0 && <span class="chip fault">{counted(faults, 'fault')}</span>}
          {challenges > 0 && <span class="chip firewall">firewall</span>}
          <span class="chip" title={counted(count, 'request')}>
            {count}
            <span class="unseen"> {count === 1 ? 'request' : 'requests'}</span>
          </span>
        </span>
      </span>
    </div>
  )
}
