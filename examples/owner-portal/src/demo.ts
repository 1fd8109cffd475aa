/**
 * The demo: the emulator on loopback, and what to tell a newcomer about its accounts.
 */
import type { Emulator } from '@owner-sso/emulator'
import { type Html, waitingTime } from '@owner-sso/sign-in-pages'
import { type DemoAccount, demoBox } from './pages/demo-box.ts'
import type { Service } from './settings.ts'

export interface Demo extends Service {
  /** The accounts with their current passcodes, for the sign-in page at this path. */
  readonly box: (here: string) => Html
  /** The same for the terminal. */
  readonly lines: () => string[]
  readonly close: () => Promise<void>
}

/** Seconds that a passcode is the current one (RFC 6238). */
const timeStep = 30

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
    box: (here) => demoBox(demoAccounts(emulator), secondsLeft(emulator), here, inspectorOf(emulator)),
    lines: () => demoLines(emulator),
    close: () => emulator.close(),
  }
}

function demoAccounts({ accounts }: Emulator): DemoAccount[] {
  return accounts.map((account) => ({
    identity: account.identity,
    credential: account.credential,
    note: account.region === 'regional' ? 'registered in another region' : '',
    passcodes: account.factors.map(({ id, name }) => ({ device: name, passcode: account.passcode(id) })),
  }))
}

function demoLines(emulator: Emulator): string[] {
  const accounts = demoAccounts(emulator)
  const width = Math.max(...accounts.map(({ identity }) => identity.length))
  const wait = waitingTime(secondsLeft(emulator))
  return [
    `Inspector:    ${inspectorOf(emulator)}   (watch each sign-in here)`,
    '',
    `Demo accounts of the emulator at ${emulator.authUrl}`,
    ...accounts.map(({ identity, credential, note, passcodes: [first] }) => {
      const extra = first ? `passcode ${first.passcode} (for ${wait}; the sign-in page has the current one)` : note
      return `  ${identity.padEnd(width)}  password: ${credential}  ${extra}`.trimEnd()
    }),
  ]
}

/** The emulator's own page: every request of a sign-in, as it arrives. */
function inspectorOf({ authUrl }: Emulator): string {
  return `${authUrl}/_emulator`
}

function secondsLeft({ clock }: Emulator): number {
  return timeStep - (Math.floor(clock.now()) % timeStep)
}
