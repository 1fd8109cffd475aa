/**
 * The emulator of this moment: who can sign in, with which passcode, and whether the firewall blocks everybody.
 */
import type { VNode } from 'preact'
import type { AccountState } from '../src/control/state.ts'
import type { Connection } from './connection.ts'
import { duration } from './words.ts'

export function LivePanel({ connection: { state } }: { readonly connection: Connection }): VNode {
  const known = state.value
  return (
    <aside class="panel" aria-label="The emulator">
      <h2>Accounts</h2>
      {!known && <p class="empty">Waiting for the emulator …</p>}
      {known && known.firewall.blockedUntil !== null && (
        <p class="chip firewall">
          The firewall blocks everybody for {duration(known.firewall.blockedUntil - known.clock.now)}
        </p>
      )}
      {known?.accounts.map((account) => (
        <AccountCard key={account.identity} account={account} />
      ))}
    </aside>
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
          <span class="countdown mono">{Math.ceil(secondsLeft)} s</span>
        </p>
      ))}
      {backupCodesLeft > 0 && <p class="soft">{backupCodesLeft} backup codes left</p>}
    </article>
  )
}
