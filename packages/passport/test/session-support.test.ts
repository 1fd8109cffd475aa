import { setImmediate } from 'node:timers/promises'
import { beforeAll, describe, expect, it, jest } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import express, { type NextFunction, type Request, type Response } from 'express'
import passport from 'passport'
import request from 'supertest'
import { OwnerSsoStrategy } from '../src/index.ts'
import { newSession, recordedOutcomes, requestWith } from './recorded-outcomes.ts'

const plain = { identity: 'plain@example.com', credential: 'correct horse' }
const emulator = useEmulator({ firewall: false })
let strategy: OwnerSsoStrategy
beforeAll(async () => {
  strategy = new OwnerSsoStrategy({ authUrl: emulator.authUrl })
})

describe('a route without what it needs', () => {
  it('fails with a clear error before anything is sent, where there is no session', async () => {
    const before = emulator.requests.length
    const outcomes = await recordedOutcomes(strategy, requestWith(plain, null))
    expect(outcomes).toEqual([{ kind: 'error', given: [expect.any(TypeError)] }])
    expect(String(outcomes[0]?.given[0])).toMatch(/express-session.*session: false/u)
    expect(emulator.requests.length).toBe(before)
  })

  it('fails with a clear error before anything is sent, where the session can’t change its id', async () => {
    const before = emulator.requests.length
    const outcomes = await recordedOutcomes(strategy, requestWith(plain, {}))
    expect(outcomes).toEqual([{ kind: 'error', given: [expect.any(TypeError)] }])
    expect(String(outcomes[0]?.given[0])).toMatch(/regenerate/u)
    expect(emulator.requests.length).toBe(before)
  })

  it('needs neither for passport.authorize, which signs nobody in', async () => {
    const [outcome] = await recordedOutcomes(strategy, requestWith(plain, {}), { assignProperty: 'account' })
    expect(outcome?.kind).toBe('success')
  })

  it('passes on the error of a session store that can’t save', async () => {
    const session = { ...newSession(), save: (done: (error: Error) => void) => done(new Error('no space left')) }
    const mfa = { identity: 'mfa@example.com', credential: 'correct horse' }
    const outcomes = await recordedOutcomes(strategy, requestWith(mfa, session))
    expect(outcomes).toEqual([{ kind: 'error', given: [new Error('no space left')] }])
  })

  it('turns an exception of its handler into an error, and the process goes on', async () => {
    const app = express().use(express.json())
    const authenticator = new passport.Passport().use(strategy)
    app.post('/login', (req: Request, res: Response, next: NextFunction) => {
      const answer: passport.AuthenticateCallback = (error) => {
        if (error) return next(error)
        throw new Error('a mistake in the handler')
      }
      authenticator.authenticate('owner-sso', { session: false }, answer)(req, res, next)
    })
    app.use((error: Error, _req: Request, res: Response, _next: NextFunction) => res.status(500).json(error.message))
    const answer = await request(app).post('/login').send(plain)
    expect(answer.body).toBe('a mistake in the handler')
  })

  it('warns of a handler that throws again at that error, and the process goes on', async () => {
    const told = jest.spyOn(process, 'emitWarning').mockReturnValue()
    const running: OwnerSsoStrategy = Object.assign(Object.create(strategy), {
      success: () => undefined,
      fail: () => undefined,
      redirect: () => undefined,
      error: () => {
        throw new Error('at its wits’ end')
      },
    })
    running.authenticate(requestWith(plain, null))
    while (told.mock.calls.length === 0) await setImmediate()
    const { calls } = told.mock
    told.mockRestore()
    const message = 'owner-sso: what the application does in reply to a sign-in failed, and so did its error handler.'
    const detail = expect.stringMatching(/^at .*session-support/u)
    expect(calls).toEqual([[message, { type: 'OwnerSsoWarning', code: 'OWNER_SSO_CALLBACK', detail }]])
    expect(JSON.stringify(calls)).not.toContain('at its wits’ end')
  })
})
