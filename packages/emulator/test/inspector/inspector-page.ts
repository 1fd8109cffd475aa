/** The inspector in a real Chromium, and logins for it to show. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { AccountOptions, Emulator } from '../../src/index.ts'
import { Client, codeOf, demoCredential, hiddenInputsOf, json, locationOf, type ClientResponse } from '../client.ts'

/** One without a second factor, and one of the other region with one. */
export const inspectedAccounts: readonly AccountOptions[] = [
  { identity: 'plain@example.com', credential: demoCredential },
  { identity: 'regional@example.com', credential: demoCredential, region: 'regional', totpSecret: 'JBSWY3DPEHPK3PXP' },
]

export interface Visit {
  readonly page: Page
  /** What the browser complained about; no test wants any. */
  readonly complaints: string[]
}

/** Opens the inspector in a context of its own. */
export async function visit(browser: Browser, emulator: Emulator, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    // A refusal is an answer; the page shows it.
    if (message.type() === 'error' && !message.text().includes('a status of 400')) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(`${emulator.authUrl}/_emulator`)
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
  return { page, complaints }
}

/** Everything secret that a login brought along. */
export type Secrets = Set<string>

export interface RegionalLogin {
  readonly client: Client
  readonly tokens: Readonly<Record<string, string>>
  readonly secrets: Secrets
}

/** A login with a passcode, from the home instance to the other region's: eight requests, a mistyped passcode among them. */
export async function loginOverRegion(emulator: Emulator, identity: string): Promise<RegionalLogin> {
  const account = emulator.account(identity)
  const home = new Client(emulator)
  const { page: redirect } = await home.open({ login_hint: identity })
  const client = new Client(emulator, { base: locationOf(redirect).origin })
  const same = { code_challenge: home.challenge }
  const { hidden } = await client.open(same)
  const form = { ...hidden, identity, credential: demoCredential }
  const post = (): Promise<ClientResponse> => client.post(form, client.query(same))
  const exchange = (code: string): Promise<ClientResponse> => client.exchange(code, { code_verifier: home.verifier })

  const firstCode = codeOf(await post())
  const csrf = hiddenInputsOf((await exchange(firstCode)).text)['_csrf'] ?? ''
  const transaction_id = hidden['transaction_id'] ?? ''
  await client.factors(transaction_id)
  await client.verify({ transaction_id, csrf }, account, { passcode: '000000' })
  await client.verify({ transaction_id, csrf }, account)
  const code = codeOf(await post())
  const tokens = json(await exchange(code))
  const secrets = new Set([
    demoCredential,
    home.verifier,
    firstCode,
    code,
    csrf,
    transaction_id,
    hidden['_csrf'] ?? '',
    ...client.cookies.values(),
    ...['access_token', 'refresh_token'].map((name) => tokens[name] ?? ''),
  ])
  return { client, tokens, secrets }
}

/** A call of the owner API. */
export async function callOwnerApi(emulator: Emulator, token: string | undefined): Promise<void> {
  await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers: { authorization: `Bearer ${token}` } })
}
