import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import request from 'supertest'

const credentials = { identity: 'mfa@example.com', credential: 'correct horse' }
const emulator = useEmulator({
  firewall: false,
  accounts: [{ ...credentials, totpSecret: 'JBSWY3DPEHPK3PXP' }],
})
let sessions: string
let instances: ChildProcess[]
let oneAddress: Server

beforeEach(() => {
  sessions = mkdtempSync(join(tmpdir(), 'owner-sso-sessions-'))
})
afterEach(async () => {
  oneAddress.close()
  await Promise.all(
    instances.map(async (instance) => {
      instance.disconnect()
      await once(instance, 'exit')
    }),
  )
  rmSync(sessions, { recursive: true })
})

/** Two processes behind one address that hands requests to them in turn. */
async function startTwoInstances(pendingLoginKey: string): Promise<void> {
  const environment = {
    ...process.env,
    OWNER_SSO_AUTH_URL: emulator.authUrl,
    SESSIONS: sessions,
    PENDING_LOGIN_KEY: pendingLoginKey,
  }
  const program = fileURLToPath(new URL('instance.mjs', import.meta.url))
  instances = [0, 1].map(() => fork(program, { env: environment, execArgv: [] }))
  const ports = await Promise.all(
    instances.map(async (instance) => {
      const [port]: number[] = await once(instance, 'message')
      return port
    }),
  )
  let turn = 0
  oneAddress = createServer((incoming, answer) => {
    const { method, url, headers } = incoming
    const outgoing = httpRequest(
      { port: ports[turn++ % 2], host: '127.0.0.1', method, path: url, headers },
      (reply) => {
        answer.writeHead(reply.statusCode ?? 500, reply.headers)
        reply.pipe(answer)
      },
    )
    incoming.pipe(outgoing)
  })
  oneAddress.listen(0, '127.0.0.1')
  await once(oneAddress, 'listening')
}

const passcode = (): string => emulator.accounts[0]?.passcode() ?? ''
const storedSessions = (): string =>
  readdirSync(sessions)
    .map((name) => readFileSync(join(sessions, name), 'utf8'))
    .join('\n')

describe('two instances behind one address, with a shared session store', () => {
  it('finish each other’s sign-ins with a shared key, and the store never learns the password', async () => {
    await startTwoInstances(randomBytes(32).toString('base64'))
    const browser = request.agent(oneAddress)
    const first = await browser.post('/login').send(credentials).expect(401)
    expect(first.body.code).toBe('ERR_SSO_PASSCODE_REQUIRED')
    expect(storedSessions()).toContain('owner-sso:login')
    expect(storedSessions()).not.toMatch(/correct horse|mfa@example\.com|cookie":"[^"]*session/u)

    const second = await browser.post('/login').send({ passcode: passcode() }).expect(200)
    expect(second.body.account).toBe('mfa@example.com')
    expect(second.body.pid).not.toBe(first.body.pid)
    expect(storedSessions()).not.toContain('owner-sso:login')
    expect((await browser.get('/me')).body.account).toBe('mfa@example.com')
  })

  it('count wrong passcodes together, whichever instance they reach', async () => {
    await startTwoInstances(randomBytes(32).toString('base64'))
    const browser = request.agent(oneAddress)
    await browser.post('/login').send(credentials).expect(401)
    const wrong = passcode() === '000000' ? '111111' : '000000'
    const answers = []
    for (let attempt = 0; attempt < 6; attempt++)
      answers.push((await browser.post('/login').send({ passcode: wrong })).body)
    expect(answers.map(({ triesLeft }) => triesLeft)).toEqual([4, 3, 2, 1, undefined, undefined])
    expect(answers[4]).toMatchObject({ reason: 'too-many-attempts' })
    expect(answers[5]).toMatchObject({ code: 'ERR_SSO_PENDING_LOGIN_EXPIRED' })
    expect(new Set(answers.map(({ pid }) => pid)).size).toBe(2)
  })

  it('can’t do so without a key: the sign-in stays where it began, and the other says what to do', async () => {
    await startTwoInstances('')
    const browser = request.agent(oneAddress)
    await browser.post('/login').send(credentials).expect(401)
    expect(storedSessions()).not.toMatch(/correct horse|mfa@example\.com/u)
    const elsewhere = await browser.post('/login').send({ passcode: passcode() }).expect(401)
    expect(elsewhere.body.code).toBe('ERR_SSO_PENDING_LOGIN_EXPIRED')
    await browser.post('/login').send({ passcode: passcode() }).expect(200)
  })
})
