import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import type { Request } from 'express'
import { OwnerSsoStrategy, type SignIn, type Verify, type VerifyDone } from '../src/index.ts'
import { type RecordedOutcome, recordedOutcomes, requestWith } from './recorded-outcomes.ts'

const emulator = useEmulator({ firewall: false })

const plain = { identity: 'plain@example.com', credential: 'correct horse' }

function forgetful(): unknown {
  return Promise.resolve()
}

/** As an application without types would write it. */
function untyped(verify: unknown): Verify {
  const any: Verify = Object(verify)
  return any
}

async function outcomeWith(
  verify: Verify,
): Promise<{ outcome: RecordedOutcome | undefined; strategy: OwnerSsoStrategy }> {
  const strategy = new OwnerSsoStrategy({ authUrl: emulator.authUrl }, verify)
  const outcomes = await recordedOutcomes(strategy, requestWith(plain))
  expect(outcomes).toHaveLength(1)
  return { outcome: outcomes[0], strategy }
}

afterEach(() => {
  jest.useRealTimers()
})

describe('verify', () => {
  it('gets the account, its tokens and a profile', async () => {
    const asked: SignIn[] = []
    await outcomeWith((signIn, done) => {
      asked.push(signIn)
      done(null, { id: 1 })
    })
    expect(asked).toHaveLength(1)
    expect(asked[0]?.account).toBe('plain@example.com')
    expect(asked[0]?.tokens.access_token).toEqual(expect.any(String))
    expect(asked[0]?.profile).toEqual({
      provider: 'owner-sso',
      id: 'plain@example.com',
      displayName: 'plain@example.com',
      emails: [{ value: 'plain@example.com' }],
    })
  })

  it('makes the user by its callback, with a message', async () => {
    const { outcome } = await outcomeWith((_signIn, done) => done(null, { id: 7 }, { message: 'Welcome' }))
    expect(outcome).toEqual({ kind: 'success', given: [{ id: 7 }, { message: 'Welcome' }] })
  })

  it('that never answers ends the sign-in with an error, and nothing is saved', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'Date'] })
    let ask = (): void => undefined
    const asked = new Promise<void>((resolve) => (ask = resolve))
    const verify = (): Promise<never> => {
      ask()
      return new Promise(() => undefined)
    }
    const ending = outcomeWith(verify)
    await asked
    for (let seconds = 0; seconds < 60; seconds += 0.1) {
      await turn()
      jest.advanceTimersByTime(100)
    }
    const { outcome, strategy } = await ending
    expect(outcome).toMatchObject({ kind: 'error', given: [{ status: 504 }] })
    expect(String(outcome?.given[0])).toContain('verify neither called back nor settled its promise')
    await expect(strategy.tokens.getAccessToken(plain.identity)).rejects.toMatchObject({ code: 'ERR_SSO_SIGNED_OUT' })
  })

  it('may call back later, whatever it returns meanwhile', async () => {
    for (const returned of [undefined, null, 7, {}]) {
      const verify = untyped((_signIn: SignIn, done: VerifyDone) => {
        setImmediate(done, null, { id: 7 })
        return returned
      })
      const { outcome } = await outcomeWith(verify)
      expect(outcome).toEqual({ kind: 'success', given: [{ id: 7 }, undefined] })
    }
  })

  it('makes the user by its promise', async () => {
    const { outcome } = await outcomeWith(async ({ account }) => ({ id: account }))
    expect(outcome).toEqual({ kind: 'success', given: [{ id: 'plain@example.com' }, undefined] })
  })

  it('turns an owner away by callback, with its own message', async () => {
    const { outcome, strategy } = await outcomeWith((_signIn, done) => done(null, false, { message: 'Members only' }))
    expect(outcome).toEqual({ kind: 'fail', given: [{ message: 'Members only' }, 401] })
    expect((await strategy.tokens.status('plain@example.com')).state).toBe('signed-out')
  })

  it('turns an owner away by promise, and no token of theirs is kept', async () => {
    const { outcome, strategy } = await outcomeWith(async () => false)
    expect(outcome?.kind).toBe('fail')
    expect((await strategy.tokens.status('plain@example.com')).state).toBe('signed-out')
  })

  it.each<[string, Verify]>([
    ['given to its callback', (_signIn, done) => done(new Error('the database is down'))],
    ['of its promise', () => Promise.reject(new Error('the database is down'))],
    [
      'that it throws',
      () => {
        throw new Error('the database is down')
      },
    ],
  ])('fails with the error %s', async (_how, verify) => {
    const { outcome } = await outcomeWith(verify)
    expect(outcome).toEqual({ kind: 'error', given: [new Error('the database is down')] })
  })

  it('causes a TypeError where its promise resolves to nothing, instead of a wait for ever', async () => {
    const { outcome } = await outcomeWith(untyped(forgetful))
    expect(outcome).toEqual({ kind: 'error', given: [expect.any(TypeError)] })
  })

  it('counts with its first answer, whatever it says afterwards', async () => {
    const { outcome } = await outcomeWith(async (_signIn, done) => {
      done(null, { id: 1 })
      done(null, false)
      throw new Error('too late')
    })
    expect(outcome).toEqual({ kind: 'success', given: [{ id: 1 }, undefined] })
  })

  it('gets the request in front with passReqToCallback', async () => {
    const strategy = new OwnerSsoStrategy(
      { authUrl: emulator.authUrl, passReqToCallback: true },
      async (request: Request, { account }) => ({ id: account, from: request.body.identity }),
    )
    const [outcome] = await recordedOutcomes(strategy, requestWith(plain))
    expect(outcome?.given[0]).toEqual({ id: 'plain@example.com', from: 'plain@example.com' })
  })

  it('may be the only argument', async () => {
    process.env['OWNER_SSO_AUTH_URL'] = emulator.authUrl
    try {
      const strategy = new OwnerSsoStrategy(async ({ account }) => ({ id: account }))
      const [outcome] = await recordedOutcomes(strategy, requestWith(plain))
      expect(outcome?.given[0]).toEqual({ id: 'plain@example.com' })
    } finally {
      delete process.env['OWNER_SSO_AUTH_URL']
    }
  })
})
