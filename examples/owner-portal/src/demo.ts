/**
 * The demo: the emulator on loopback, and what to tell a newcomer about its accounts.
 */
import type { Emulator } from '@owner-sso/emulator'
import { type Html, waitingTime } from '@owner-sso/sign-in-pages'
import { html } from 'hono/html'
import type { Service } from './settings.ts'

export interface Demo extends Service {
  /** The accounts with their current passcodes, for the sign-in page at this path. */
  readonly box: (here: string) => Html
  /** The same for the terminal. */
  readonly lines: () => string[]
  readonly close: () => Promise<void>
}

/** Starts the emulator; loaded only here, since nothing but a demo needs it. */
export async function startDemo(): Promise<Demo> {
  const { startEmulator } = await import('@owner-sso/emulator')
  // People open its login page in their browser to sign in there.
  return demoOf(await startEmulator({ allowBrowsers: true }))
}

/** What the portal needs of a running emulator. */
export function demoOf(emulator: Emulator): Demo {
  return {
    sso: { authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] },
    apiUrl: emulator.ownerApiUrl,
    box: (here) => demoBox(emulator, here),
    lines: () => demoLines(emulator),
    close: () => emulator.close(),
  }
}

/** @param here - the path of the page around it: a link, since reloading a page that answered a form would send it again */
function demoBox(emulator: Emulator, here: string): Html {
  return html`<aside class="demo" aria-labelledby="demo-title">
    <h2 id="demo-title">Demo accounts</h2>
    <p>This portal runs against an emulator. Sign in as one of these:</p>
    <ul>
      ${emulator.accounts.map(
        (account) =>
          html`<li>
            <strong>${account.identity}</strong>
            <span
              >Password <code>${account.credential}</code>${account.region === 'regional' && `, ${otherRegion}`}</span
            >
            ${account.factors.map(({ id, name }) => html`<span>${name} shows <code>${account.passcode(id)}</code></span>`)}
          </li>`,
      )}
    </ul>
    <p class="quiet">
      Each passcode works once and changes in ${changeOf(emulator)}. <a href="${here}">Show the current ones</a>
    </p>
    <p>
      <a href="${inspectorOf(emulator)}" target="_blank" rel="noopener">Watch each sign-in</a> in the emulator’s
      inspector.
    </p>
  </aside>`
}

function demoLines(emulator: Emulator): string[] {
  const { accounts, authUrl } = emulator
  const width = Math.max(...accounts.map(({ identity }) => identity.length))
  return [
    `Inspector:    ${inspectorOf(emulator)}   (watch each sign-in here)`,
    '',
    `Demo accounts of the emulator at ${authUrl}`,
    ...accounts.map((account) => {
      const { identity, credential, region, factors } = account
      const [first] = factors
      const shown =
        first &&
        `passcode ${account.passcode(first.id)} (for ${changeOf(emulator)}; the sign-in page has the current one)`
      const extra = shown ?? (region === 'regional' ? otherRegion : '')
      return `  ${identity.padEnd(width)}  password: ${credential}  ${extra}`.trimEnd()
    }),
  ]
}

const otherRegion = 'registered in another region'

/** The emulator's own page: every request of a sign-in, as it arrives. */
function inspectorOf({ authUrl }: Emulator): string {
  return `${authUrl}/_emulator`
}

/** When the passcodes shown are no longer the current ones: each is for 30 seconds (RFC 6238). */
function changeOf({ clock }: Emulator): string {
  return waitingTime(30 - (Math.floor(clock.now()) % 30))
}
