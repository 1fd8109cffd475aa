/**
 * What lives at this moment: passcodes, sessions, codes, tokens, and how far the firewall's windows are filled.
 */
import type { VNode } from 'preact'
import type { AccountState, Alive } from '../src/control/state.ts'
import type { Connection } from './connection.ts'
import { FirewallGauges } from './firewall-gauges.tsx'
import { duration, placeNames } from './words.ts'

export function LivePanel({ connection: { state } }: { readonly connection: Connection }): VNode {
  const known = state.value
  if (!known) return <p class="empty">Waiting for the emulator …</p>
  const { now } = known.clock
  return (
    <>
      <section aria-labelledby="accounts-title">
        <h3 id="accounts-title">Accounts</h3>
        {known.accounts.map((account) => (
          <AccountCard key={account.identity} account={account} />
        ))}
      </section>
      <section aria-labelledby="firewall-title">
        <h3 id="firewall-title">Firewall</h3>
        <FirewallGauges state={known} />
      </section>
      <section aria-labelledby="alive-title">
        <h3 id="alive-title">Alive</h3>
        {Object.entries(known.alive).map(([name, alive]) => (
          <Lives key={name} name={name} alive={alive} now={now} />
        ))}
      </section>
    </>
  )
}

function AccountCard({ account }: { readonly account: AccountState }): VNode {
  const { identity, region, locked, captcha, factors, backupCodesLeft } = account
  return (
    <article class="account">
      <p>
        <b>{identity}</b>
        {region === 'regional' && <span class="chip">other region</span>}
        {locked && <span class="chip fault">locked</span>}
        {captcha !== false && <span class="chip warn">captcha</span>}
      </p>
      {factors.map(({ name, passcode, secondsLeft }) => (
        <p key={name} class="factor">
          <span class="soft">{name}</span>
          <output class="passcode mono" aria-label={`Passcode of ${name}, ${identity}`}>
            {passcode.slice(0, 3)}&#8239;{passcode.slice(3)}
          </output>
          <Countdown left={secondsLeft} />
        </p>
      ))}
      {backupCodesLeft > 0 && <p class="soft">{backupCodesLeft} backup codes left</p>}
    </article>
  )
}

/** Of one step of TOTP (RFC 6238). */
const passcodeSeconds = 30

/** A ring that empties, and the seconds beside it. */
function Countdown({ left }: { readonly left: number }): VNode {
  const seconds = Math.ceil(left)
  return (
    <span class={seconds <= 5 ? 'countdown soon' : 'countdown'}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <circle cx="10" cy="10" r="8" />
        <circle cx="10" cy="10" r="8" pathLength="1" stroke-dasharray={`${left / passcodeSeconds} 1`} />
      </svg>
      <span class="mono">{seconds} s</span>
    </span>
  )
}

interface LivesProps {
  readonly name: string
  readonly alive: Alive
  readonly now: number
}

function Lives({ name, alive: { count, youngest }, now }: LivesProps): VNode {
  return (
    <details class="lives" open>
      <summary>
        {name} <b class="count">{count.toLocaleString('en')}</b>
      </summary>
      {count === 0 && <p class="soft">None at this moment.</p>}
      <ul>
        {youngest.map(({ identity, place, stage, expiresAt }, index) => (
          <li key={index}>
            <span>{identity ?? 'a client'}</span>
            <span class="soft">{[placeNames[place], stage].filter(Boolean).join(', ')}</span>
            <span class="mono">{expiresAt === null ? 'no end' : `${duration(expiresAt - now)} left`}</span>
          </li>
        ))}
      </ul>
      {count > youngest.length && (
        <p class="soft">… and {(count - youngest.length).toLocaleString('en')} older ones.</p>
      )}
    </details>
  )
}
