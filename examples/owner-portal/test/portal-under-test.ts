/** The portal against an emulator of its own, for one test. */
import { createSso, createTokenManager, type SsoOptions, type TokenManager } from '@owner-sso/core'
import { type Emulator, type EmulatorOptions, startEmulator } from '@owner-sso/emulator'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { afterEach } from '@jest/globals'
import type { Express } from 'express'
import { createApp, type PortalOptions } from '../src/app.ts'
import { type Page, type Visitor, visitor } from './visitor.ts'

export const credential = 'correct horse'

export interface PortalUnderTest {
  readonly app: Express
  readonly emulator: Emulator
  readonly tokens: TokenManager
  /** What the portal logged. */
  readonly log: string[]
  visitor(): Visitor
  /** A visitor who has signed in, on the home page. */
  signedIn(identity?: string): Promise<{ me: Visitor; home: Page }>
}

export interface Variation {
  readonly emulator?: EmulatorOptions
  readonly sso?: Partial<SsoOptions>
  readonly portal?: Partial<PortalOptions>
}

const running: Emulator[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((emulator) => emulator.close()))
})

export async function startPortal(variation: Variation = {}): Promise<PortalUnderTest> {
  const emulator = await startEmulator(variation.emulator)
  running.push(emulator)
  const regionalAuthUrls = [emulator.regionalAuthUrl]
  const sso = createSso({ authUrl: emulator.authUrl, regionalAuthUrls, ...variation.sso })
  const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore(), minRefreshInterval: 0 })
  const log: string[] = []
  const app = createApp({
    sso,
    tokens,
    apiUrl: emulator.ownerApiUrl,
    log: (line) => log.push(line),
    ...variation.portal,
  })
  return {
    app,
    emulator,
    tokens,
    log,
    visitor: () => visitor(app),
    signedIn: async (identity = 'plain@example.com') => {
      const me = visitor(app)
      const home = await me.follow(await me.send(await me.open('/sign-in'), '/sign-in', { identity, credential }))
      return { me, home }
    },
  }
}

/** The current passcode of an account's device. */
export function passcode(emulator: Emulator, device?: string, identity = 'mfa@example.com'): string {
  const account = emulator.accounts.find((each) => each.identity === identity)
  if (!account) throw new Error(`No account ${identity}`)
  return account.passcode(device)
}
