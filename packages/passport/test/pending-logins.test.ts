import { createCipheriv, randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from '@jest/globals'
import { createSso, createTokenManager } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import * as fc from 'fast-check'
import { anyText } from '../../../tests/support/any-text.ts'
import { memoryPendingLogins, type PendingLogins } from '../src/pending-logins.ts'
import { sealedPendingLogins as sealedWith } from '../src/sealed-pending-logins.ts'
import { afterOneMoreTry, startWaiting, type WaitingForPasscode } from '../src/waiting-login.ts'

/** One instance of an application; those with the same store share the counts. */
function sealedPendingLogins(key: Uint8Array, store = memoryTokenStore()): PendingLogins {
  const tokens = createTokenManager({ sso: createSso({ authUrl: 'https://auth.example.com' }), store })
  return sealedWith(key, (answer) => tokens.claimTry(answer))
}

function never(): never {
  throw new Error('unreachable')
}

const now = (): number => Date.now() / 1000

/** A waiting login as core makes it, with a secret in it. */
function newLogin(expiresAt: number = now() + 60): WaitingForPasscode {
  const pending = { kind: 'owner-sso/pending-login' as const, expires_at: expiresAt, credential: 'correct horse' }
  return { ...startWaiting(expiresAt), step: 'passcode', identity: 'jo@example.com', factors: [], pending }
}

describe.each<[string, () => PendingLogins]>([
  ['in memory', memoryPendingLogins],
  ['sealed', () => sealedPendingLogins(randomBytes(32))],
])('pending logins %s', (_where, create) => {
  it('give back what was kept, once', async () => {
    const logins = create()
    const login = newLogin()
    const handle = logins.keep(login)
    expect(logins.peek(handle)).toEqual(login)
    expect(await logins.take(handle)).toEqual(login)
    expect(logins.peek(handle)).toBeUndefined()
    expect(await logins.take(handle)).toBeUndefined()
  })

  it('go to one of many who ask at once', async () => {
    const logins = create()
    const handle = logins.keep(newLogin())
    const answers = await Promise.all(Array.from({ length: 20 }, () => logins.take(handle)))
    expect(answers.filter((login) => login !== undefined)).toHaveLength(1)
  })

  it('go on after a wrong answer', async () => {
    const logins = create()
    const login = await logins.take(logins.keep(newLogin()))
    const next = login && afterOneMoreTry(login)
    expect(next).toMatchObject({ tries: 1 })
    expect(next && (await logins.take(logins.keep(next)))).toEqual(next)
  })

  it('are gone when their time is over', () => {
    const logins = create()
    expect(logins.peek(logins.keep(newLogin(now() - 1)))).toBeUndefined()
  })

  it('show nothing when printed, and nothing in their handle', () => {
    const logins = create()
    const handle = logins.keep(newLogin())
    const shown =
      inspect(logins, { depth: Infinity, showHidden: true }) +
      handle +
      Buffer.from(handle, 'base64url').toString('latin1')
    expect(shown).not.toMatch(/correct horse|jo@example/u)
  })

  it('give nothing for a handle that they did not make', async () => {
    const logins = create()
    await fc.assert(
      fc.asyncProperty(anyText(), fc.base64String(), async (text, base64) => {
        expect(logins.peek(text)).toBeUndefined()
        expect(await logins.take(base64)).toBeUndefined()
      }),
    )
  })
})

describe('a pending login in memory', () => {
  it('has 128 random bits for its name, and a place until ten thousand others came', () => {
    expect(startWaiting(7)).toEqual({ id: expect.stringMatching(/^[\w-]{22}$/u), tries: 0, expires_at: 7 })
    const logins = memoryPendingLogins()
    const login = newLogin()
    const [first, ...others] = Array.from({ length: 10_000 }, (_, index) => logins.keep({ ...login, id: `${index}` }))
    expect([first, others.at(-1)]).toEqual(['0', '9999'])
    expect(logins.peek('0')).toEqual({ ...login, id: '0' })
    logins.keep({ ...login, id: 'one more' })
    logins.keep({ ...login, id: 'another' })
    // What was looked at last stays longest.
    expect(['0', '1', '2', '3'].map((handle) => logins.peek(handle)?.id)).toEqual(['0', undefined, undefined, '3'])
  })

  it.each([0.02, -1])('is erased on time, though nobody asks for it: %d seconds from now', async (seconds) => {
    setFlagsFromString('--expose-gc')
    const collectGarbage: () => void = runInNewContext('gc')
    const logins = memoryPendingLogins()
    const kept = ((login) => {
      logins.keep(login)
      return new WeakRef(login)
    })(newLogin(now() + seconds))
    // An entry that merely looked expired would never go.
    for (let turn = 0; turn < 500 && kept.deref(); turn++) {
      await setTimeout(10)
      collectGarbage()
    }
    expect(kept.deref()).toBeUndefined()
  })
})

describe('a sealed pending login', () => {
  it('opens with the same key elsewhere, and with no other', () => {
    const key = randomBytes(32)
    const login = newLogin()
    const handle = sealedPendingLogins(key).keep(login)
    expect(sealedPendingLogins(key).peek(handle)).toEqual(login)
    expect(sealedPendingLogins(randomBytes(32)).peek(handle)).toBeUndefined()
  })

  it('opens by another version of this package, and nothing that was sealed for another purpose does', () => {
    const [key, nonce, login] = [randomBytes(32), randomBytes(12), newLogin()]
    const sealedFor = (purpose: string): string => {
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
      const parts = [nonce, cipher.update(JSON.stringify(login)), cipher.final(), cipher.getAuthTag()]
      return Buffer.concat(parts).toString('base64url')
    }
    const logins = sealedPendingLogins(key)
    expect(logins.peek(sealedFor('owner-sso:pending-login:1'))).toEqual(login)
    expect(logins.peek(sealedFor(''))).toBeUndefined()
  })

  it('never looks the same twice', () => {
    const logins = sealedPendingLogins(randomBytes(32))
    const login = newLogin()
    expect(new Set(Array.from({ length: 1000 }, () => logins.keep(login))).size).toBe(1000)
  })

  it('opens in no changed form: each bit of it counts', () => {
    const logins = sealedPendingLogins(randomBytes(32))
    const sealed = Buffer.from(logins.keep(newLogin()), 'base64url')
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(logins.peek(changed.toString('base64url'))).toBeUndefined()
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(logins.peek(sealed.subarray(0, length).toString('base64url'))).toBeUndefined()
    }
  })

  it('is not answered twice from an old copy of the session, whichever instance gets it', async () => {
    const [key, store] = [randomBytes(32), memoryTokenStore()]
    const instances = Array.from({ length: 3 }, () => sealedPendingLogins(key, store))
    const [one = never(), other = never()] = instances
    const first = one.keep(newLogin())
    const answers = await Promise.all(instances.map((each) => each.take(first)))
    const [login, ...more] = answers.filter((each) => each !== undefined)
    expect(more).toEqual([])
    const next = login && afterOneMoreTry(login)
    const second = (next && one.keep(next)) ?? ''
    expect(await other.take(first)).toBeUndefined()
    expect(await other.take(second)).toEqual(next)
    expect(await one.take(second)).toBeUndefined()
    expect(await one.take(first)).toBeUndefined()
  })
})
