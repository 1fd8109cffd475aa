/**
 * The start page: who can sign in, with what, and where everything is.
 */
import type { EmulatorAccount } from '../state/accounts.ts'
import { html, type Markup } from './html.ts'
import { page } from './page.ts'

export function startPage(accounts: readonly EmulatorAccount[], ownerApiUrl: string): string {
  return page(
    'Emulator',
    html`<h1>The service on your machine</h1>
      <p>Sign in from your program. These accounts can:</p>
      ${accounts.map(accountEntry)}
      <p class="note apart">A passcode is valid for 30 seconds: reload this page for the next one.</p>
      <p><a href="/_emulator">Inspector</a>: each request of each sign-in</p>
      <p>Owner API: <code>${ownerApiUrl}</code></p>`,
  )
}

function accountEntry(account: EmulatorAccount): Markup {
  const { identity, credential, factors, backupCodes, region, locked } = account
  const [first] = backupCodes
  return html`<h2>${identity}</h2>
    <p>
      Password <code>${credential}</code>${region !== 'home' && ', lives in the other region'}${locked && ', locked'}
      ${factors.map(({ id, name }) => html`<br />Passcode of ${name} <code>${account.passcode(id)}</code>`)}
      ${first !== undefined && html`<br />Backup code <code>${first}</code>`}
    </p>`
}
