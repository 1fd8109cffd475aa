/** Where a sign-in waits between two requests: in memory or sealed into the session, seen through the strategy alone. */
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from '@jest/globals'
import { createSso, createTokenManager } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import * as fc from 'fast-check'
import { anyText } from '../../../tests/support/any-text.ts'
import type { OwnerSsoStrategy, StrategyOptions } from '../src/index.ts'
import { memoryPendingLogins } from '../src/pending-logins.ts'
import { newSession, recordedOutcomes, requestWith } from './recorded-outcomes.ts'
import { single, useSecondFactorService } from './second-factor-service.ts'

const { emulator, newStrategy, passcodeOf } = useSecondFactorService()

/** Where the handle of a pending login stands in a session. */
const key = 'owner-sso:login'

interface Begun {
  readonly strategy: OwnerSsoStrategy
  readonly session: object
  /** What stands in the session. */
  readonly handle: string
}

/** A sign-in that waits for its passcode. */
async function begun(options: StrategyOptions = {}): Promise<Begun> {
  const strategy = newStrategy(options)
  const session = newSession()
  await recordedOutcomes(strategy, requestWith(single, session))
  return { strategy, session, handle: String(Reflect.get(session, key)) }
}

/** What a strategy knows of a session with this handle in it. */
const pendingAt = (strategy: OwnerSsoStrategy, handle: string): unknown =>
  strategy.pendingLogin(requestWith({}, { ...newSession(), [key]: handle }))

/** What an answer to the login of a handle ends with. */
async function codeOf(strategy: OwnerSsoStrategy, session: object, passcode: string): Promise<unknown> {
  const [outcome] = await recordedOutcomes(strategy, requestWith({ passcode }, session))
  return outcome?.kind === 'fail' ? Reflect.get(Object(outcome.given[0]), 'code') : outcome?.kind
}

const wrong = (): string => (passcodeOf(single) === '000000' ? '111111' : '000000')

describe.each<[string, () => StrategyOptions]>([
  ['in memory', () => ({})],
  ['sealed', () => ({ pendingLoginKey: randomBytes(32) })],
])('a pending login %s', (_where, options) => {
  it('is there for its next step, and gone after it', async () => {
    const { strategy, session, handle } = await begun(options())
    expect(pendingAt(strategy, handle)).toMatchObject({ step: 'passcode', identity: single.identity, triesLeft: 5 })
    expect(await codeOf(strategy, session, passcodeOf(single))).toBe('success')
    expect(Reflect.get(session, key)).toBeUndefined()
    expect(pendingAt(strategy, handle)).toBeUndefined()
  })

  it('shows nothing when printed, and nothing in what stands in the session', async () => {
    const { strategy, handle } = await begun(options())
    const shown = [
      inspect(strategy, { depth: Infinity, showHidden: true }),
      handle,
      Buffer.from(handle, 'base64url').toString('latin1'),
    ]
    expect(shown.join('')).not.toMatch(/correct horse|single@example/u)
  })

  it('is not found by a handle that was made up', async () => {
    const { strategy } = await begun(options())
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyText(), fc.base64String()), async (handle) => {
        expect(pendingAt(strategy, handle)).toBeUndefined()
        const session = { ...newSession(), [key]: handle }
        expect(await codeOf(strategy, session, '123456')).toBe('ERR_SSO_PENDING_LOGIN_EXPIRED')
      }),
    )
  })

  it('is answered once from copies of one session', async () => {
    const { strategy, session } = await begun(options())
    const before = emulator.counters.passcodeChecks
    const other = wrong()
    await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        codeOf(strategy, { ...session }, index === 0 ? other : `${other}${index}`),
      ),
    )
    expect(emulator.counters.passcodeChecks - before).toBe(1)
  })
})

describe('a pending login in memory', () => {
  it('stands in the session as 128 random bits', async () => {
    const handles = await Promise.all([begun(), begun()])
    for (const { handle } of handles) expect(handle).toMatch(/^[\w-]{22}$/u)
    expect(handles[0]?.handle).not.toBe(handles[1]?.handle)
  })

  it.each([0.02, -1])('is erased on time, though nobody asks for it: %d seconds from now', async (seconds) => {
    setFlagsFromString('--expose-gc')
    const collectGarbage: () => void = runInNewContext('gc')
    const logins = memoryPendingLogins()
    const expires_at = Date.now() / 1000 + seconds
    const pending = { kind: 'owner-sso/pending-login' as const, expires_at }
    const kept = ((login) => {
      logins.keep(login)
      return new WeakRef(login)
    })({ id: 'one', tries: 0, expires_at, step: 'passcode' as const, identity: 'jo@example.com', factors: [], pending })
    // An entry that merely looked expired would never go.
    for (let turn = 0; turn < 500 && kept.deref(); turn++) {
      await setTimeout(10)
      collectGarbage()
    }
    expect(kept.deref()).toBeUndefined()
  })
})

describe('a sealed pending login', () => {
  it('opens with the same key elsewhere, and with no other', async () => {
    const pendingLoginKey = randomBytes(32)
    const { handle } = await begun({ pendingLoginKey })
    expect(pendingAt(newStrategy({ pendingLoginKey }), handle)).toMatchObject({ identity: single.identity })
    expect(pendingAt(newStrategy({ pendingLoginKey: randomBytes(32) }), handle)).toBeUndefined()
  })

  it('opens in no changed form: each bit of it counts', async () => {
    const { strategy, handle } = await begun({ pendingLoginKey: randomBytes(32) })
    const sealed = Buffer.from(handle, 'base64url')
    expect(pendingAt(strategy, sealed.toString('base64url'))).toBeDefined()
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(pendingAt(strategy, changed.toString('base64url'))).toBeUndefined()
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(pendingAt(strategy, sealed.subarray(0, length).toString('base64url'))).toBeUndefined()
    }
  })

  it('is not answered twice from an old copy of the session, whichever instance gets it', async () => {
    const pendingLoginKey = randomBytes(32)
    const store = memoryTokenStore()
    const sso = createSso({ authUrl: emulator.authUrl })
    const options = (): StrategyOptions => ({
      authUrl: undefined,
      sso,
      tokens: createTokenManager({ issuer: sso, store }),
      pendingLoginKey,
    })
    const { strategy, session } = await begun(options())
    const other = newStrategy(options())
    const old = { ...session }
    expect(await codeOf(strategy, session, wrong())).toBe('ERR_SSO_PASSCODE_REJECTED')
    const before = emulator.counters.passcodeChecks
    for (const instance of [strategy, other])
      expect(await codeOf(instance, { ...old }, passcodeOf(single))).toBe('ERR_SSO_PENDING_LOGIN_EXPIRED')
    expect(emulator.counters.passcodeChecks).toBe(before)
    expect(await codeOf(other, session, passcodeOf(single))).toBe('success')
  })
})
