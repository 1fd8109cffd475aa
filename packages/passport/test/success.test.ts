import { describe, expect, it } from '@jest/globals'
import { createSso, createTokenManager, type TokenStore } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import express, { type NextFunction, type Request, type Response } from 'express'
import passport from 'passport'
import request from 'supertest'
import { OwnerSsoStrategy } from '../src/index.ts'
import { sessionIdIn, startApplication } from './application.ts'
import { recordedOutcomes, requestWith } from './recorded-outcomes.ts'

const spaced = { identity: 'spaced@example.com', credential: ' a spaced  password ' }
const emulator = useEmulator({
  firewall: false,
  accounts: [
    { identity: 'plain@example.com', credential: 'correct horse' },
    { identity: 'regional@example.com', credential: 'correct horse', region: 'regional' },
    spaced,
  ],
})

const plain = { identity: 'plain@example.com', credential: 'correct horse' }
const newStrategy = (): OwnerSsoStrategy =>
  new OwnerSsoStrategy({ authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] })

describe('accepted credentials', () => {
  it('sign in with three requests, as a user of account and e-mail', async () => {
    const before = emulator.requests.length
    const browser = startApplication(newStrategy()).browser()
    const signIn = await browser.post('/passport-login').type('form').send(plain)
    expect(signIn.body).toEqual({ account: 'plain@example.com', email: 'plain@example.com' })
    expect(emulator.requests.length - before).toBe(3)
    expect((await browser.get('/me')).body).toEqual(signIn.body)
  })

  it('are an e-mail without the spaces around it, and a password as it was typed', async () => {
    const typed = { ...spaced, identity: `  ${spaced.identity}\t` }
    const [outcome] = await recordedOutcomes(newStrategy(), requestWith(typed))
    expect(outcome).toMatchObject({ kind: 'success', given: [{ account: spaced.identity }, undefined] })
  })

  it('leave a token that the owner API takes', async () => {
    const strategy = newStrategy()
    await startApplication(strategy).browser().post('/login').send(plain).expect(200)
    const authorization = `Bearer ${await strategy.tokens.getAccessToken('plain@example.com')}`
    const answer = await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers: { authorization } })
    expect(answer.status).toBe(200)
  })

  it('sign in at the region of the account', async () => {
    const strategy = newStrategy()
    const regional = { identity: 'regional@example.com', credential: 'correct horse' }
    await startApplication(strategy).browser().post('/login').send(regional).expect(200)
    expect((await strategy.tokens.status('regional@example.com')).auth_url).toBe(emulator.regionalAuthUrl)
  })

  it('are reported only once the tokens are stored', async () => {
    const memory = memoryTokenStore()
    const sequence: string[] = []
    const store: TokenStore = {
      ...memory,
      async swap(...write) {
        const answer = await memory.swap(...write)
        if (!write[0].startsWith('owner-sso:')) sequence.push('stored')
        return answer
      },
    }
    const sso = createSso({ authUrl: emulator.authUrl })
    const strategy = new OwnerSsoStrategy({ sso, tokens: createTokenManager({ issuer: sso, store }) })
    const outcomes = await recordedOutcomes(strategy, requestWith(plain))
    sequence.push(...outcomes.map(({ kind }) => kind))
    expect(sequence).toEqual(['stored', 'success'])
  })

  it('change the session id at sign-in and at sign-out: of 50 runs none is used twice', async () => {
    const application = startApplication(newStrategy())
    const seen: (string | undefined)[] = []
    for (let run = 0; run < 50; run++) {
      const browser = application.browser()
      seen.push(sessionIdIn(await browser.get('/session')))
      seen.push(sessionIdIn(await browser.post('/login').send(plain).expect(200)))
      seen.push(sessionIdIn(await browser.post('/logout').expect(200)))
      expect((await browser.get('/me')).body).toBeNull()
    }
    expect(seen).not.toContain(undefined)
    expect(new Set(seen).size).toBe(150)
  }, 120_000)

  it('leave neither tokens nor the password in the session or the answer', async () => {
    const strategy = newStrategy()
    const application = startApplication(strategy)
    const answer = await application.browser().post('/login').send(plain).expect(200)
    const seen = application.storedSessions() + answer.text + JSON.stringify(answer.headers)
    expect(seen).toContain('plain@example.com')
    expect(seen).not.toContain('correct horse')
    expect(seen).not.toContain(await strategy.tokens.getAccessToken('plain@example.com'))
    expect(seen).not.toMatch(/token/iu)
  })

  it('sign in under one account however the e-mail is typed', async () => {
    const strategy = newStrategy()
    const typed = { ...plain, identity: ' Plain@Example.COM ' }
    const answer = await startApplication(strategy).browser().post('/login').send(typed).expect(200)
    expect(answer.body).toEqual({ account: 'plain@example.com', email: 'Plain@Example.COM' })
  })

  it('work without sessions where the route says so', async () => {
    const strategy = newStrategy()
    const [outcome] = await recordedOutcomes(strategy, requestWith(plain, null), { session: false })
    expect(outcome?.kind).toBe('success')
  })

  it('work for two sign-ins of one session at once', async () => {
    const application = startApplication(newStrategy())
    const browser = application.browser()
    await browser.get('/session')
    const answers = await Promise.all([browser.post('/login').send(plain), browser.post('/login').send(plain)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect((await browser.get('/me')).body).toMatchObject({ account: 'plain@example.com' })
  })

  it('are each answered to the person who sent them, where authenticate is given the strategy in place of its name', async () => {
    const strategy = newStrategy()
    const app = express().use(express.json())
    const answerWith = passport.authenticate(strategy, { session: false })
    app.post('/login', answerWith, (req: Request, res: Response) => res.json(req.user))
    app.use((error: Error, _req: Request, res: Response, _next: NextFunction) => res.status(500).json(error.message))
    const regional = { identity: 'regional@example.com', credential: 'correct horse' }
    const answers = await Promise.all([plain, regional].map((person) => request(app).post('/login').send(person)))
    expect(answers.map(({ body }) => body.account)).toEqual(['plain@example.com', 'regional@example.com'])
  })
})
