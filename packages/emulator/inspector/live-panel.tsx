/**
 * What lives at this moment: passcodes, sessions, codes, tokens, and how far the firewall's windows are filled.
 */
import type { VNode } from 'preact'
import type { LiveAccount, Life, Living } from '../src/inspector/live-state.ts'
import type { Connection } from './connection.ts'
import { FirewallGauges } from './firewall-gauges.tsx'
import { duration, placeNames } from './words.ts'

export function LivePanel({ connection: { state } }: { readonly connection: Connection }): VNode {
  const live = state.value
  if (!live) return <p class="empty">Waiting for the emulator …</p>
  return (
    <>
      <section aria-labelledby="accounts-title">
        <h3 id="accounts-title">Accounts</h3>
        {live.accounts.map((account) => (
          <AccountCard key={account.identity} account={account} />
        ))}
      </section>
      <section aria-labelledby="firewall-title">
        <h3 id="firewall-title">Firewall</h3>
        <FirewallGauges firewall={live.firewall} now={live.now} />
      </section>
      <section aria-labelledby="alive-title">
        <h3 id="alive-title">Alive</h3>
        <Lives name="Sessions" living={live.sessions} now={live.now} />
        <Lives name="Codes" living={live.codes} now={live.now} />
        <Lives name="Access tokens" living={live.accessTokens} now={live.now} />
        <Lives name="Refresh tokens" living={live.refreshTokens} now={live.now} />
      </section>
    </>
  )
}

function AccountCard({ account }: { readonly account: LiveAccount }): VNode {
  const { identity, region, locked, captcha, factors, secondsLeft, passcodeSeconds, backupCodes } = account
  return (
    <article class="account">
      <p>
        <b>{identity}</b>
        {region === 'regional' && <span class="chip">other region</span>}
        {locked && <span class="chip fault">locked</span>}
        {captcha !== false && <span class="chip warn">captcha</span>}
      </p>
      {factors.map(({ name, passcode }) => (
        <p key={name} class="factor">
          <span class="soft">{name}</span>
          <output class="passcode mono" aria-label={`Passcode of ${name}, ${identity}`}>
            {passcode.slice(0, 3)}&#8239;{passcode.slice(3)}
          </output>
          <Countdown left={secondsLeft} of={passcodeSeconds} />
        </p>
      ))}
      {factors.length > 0 && backupCodes > 0 && <p class="soft">{backupCodes} backup codes left</p>}
    </article>
  )
}

/** A ring that empties, and the seconds beside it. */
function Countdown({ left, of }: { readonly left: number; readonly of: number }): VNode {
  const seconds = Math.ceil(left)
  return (
    <span class={seconds <= 5 ? 'countdown soon' : 'countdown'}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <circle cx="10" cy="10" r="8" />
        <circle cx="10" cy="10" r="8" pathLength="1" stroke-dasharray={`${left / of} 1`} />
      </svg>
      <span class="mono">{seconds} s</span>
    </span>
  )
}

function Lives({
  name,
  living: { count, youngest },
  now,
}: {
  readonly name: string
  readonly living: Living
  readonly now: number
}): VNode {
  return (
    <details class="lives" open>
      <summary>
        {name} <b class="count">{count.toLocaleString('en')}</b>
      </summary>
      {count === 0 && <p class="soft">None at this moment.</p>}
      <ul>
        {youngest.map((life, index) => (
          <li key={index}>
            <span>{life.identity ?? 'a client'}</span>
            <span class="soft">{[placeNames[life.place], life.stage].filter(Boolean).join(', ')}</span>
            <span class="mono">{lifeWords(life, now)}</span>
          </li>
        ))}
      </ul>
      {count > youngest.length && (
        <p class="soft">… and {(count - youngest.length).toLocaleString('en')} older ones.</p>
      )}
    </details>
  )
}

function lifeWords({ expiresAt }: Life, now: number): string {
  return expiresAt === undefined ? 'no end' : `${duration(expiresAt - now)} left`
}
