/** Two `owner-sso broker` over one store: to a program, and to a person, they are one. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import { describeWithPostgres, startPostgres } from '../../../tests/support/postgres-server.ts'
import { describeWithRedis, startRedis } from '../../../tests/support/redis-server.ts'
import { startReceiver } from '../../../tests/support/webhook-receiver.ts'
import { useMachine } from './machine.ts'

const account = 'plain@example.com'
const emulator = useEmulator({ rotation: 'single-use', reuse: 'revoke-family' })
const machine = useMachine(emulator)

/** A server that may be killed, and keeps what it has. */
interface StoreServer {
  readonly url: string
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
}

/** What was told of the account, and what the service saw. */
async function lifeOfTwo({ url: store, kill, start }: StoreServer): Promise<object> {
  const { url: hook, received, close } = await startReceiver()
  const secret = Buffer.alloc(32, 7).toString('base64')
  Object.assign(machine.env, {
    OWNER_SSO_STORE: store,
    OWNER_SSO_ENCRYPTION_KEY: secret,
    OWNER_SSO_ALERT_SECRET: secret,
  })
  await machine.signIn(account)
  const printedBy = async (...args: string[]): Promise<string> => (await machine.run(args)).stdout.trim()
  const brokers = [1, 2].map(() => machine.start(['broker', '--port', '0', '--alert-webhook', hook]))
  const urls = await Promise.all(brokers.map(addressOf))
  const [first = '', second = ''] = urls
  const token = await printedBy('token')

  // The program refreshes at either, with one token behind it; a new key ends the one before.
  const key = await printedBy('broker', 'invite', 'heating')
  for (const url of [first, second, second, first]) {
    const answer = await refreshed(url, key)
    expect(answer).toMatchObject({ status: 200, access_token: token, refresh_token: key })
  }
  const next = await printedBy('broker', 'rotate', 'heating')
  for (const url of urls) expect((await refreshed(url, key)).status).toBe(400)

  // A person comes in at one, and is inside at the other.
  const body = new URLSearchParams({ code: await printedBy('broker', 'code') })
  const entrance = await fetch(`${first}/status`)
  const cookie = entrance.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  body.set('_csrf', /name="_csrf" value="([^"]+)"/u.exec(await entrance.text())?.[1] ?? '')
  const init = { method: 'POST', body, headers: { cookie }, redirect: 'manual' } as const
  const entered = await fetch(`${second}/status/enter`, init)
  expect(entered.status).toBe(303)
  const inside = { headers: { cookie: entered.headers.getSetCookie()[0]?.split(';')[0] ?? cookie } }
  const seenAt = async (url: string): Promise<string> => (await fetch(`${url}/status`, inside)).text()
  expect(await seenAt(first)).toContain('heating')

  // The store goes: who has the token goes on with it, and keeps its key. It comes back, and so do both.
  await kill()
  for (const url of urls)
    expect(await refreshed(url, next)).toMatchObject({ status: 200, access_token: token, refresh_token: next })
  await start()
  for (const url of urls) while (!(await seenAt(url)).includes('heating')) await turn()

  // The sign-in has ended: told once, whoever of them notices.
  emulator.expireRefreshTokens(account)
  expect((await machine.run(['refresh'])).code).toBe(3)
  while (received.length === 0) for (const url of urls) await refreshed(url, next)
  expect((await machine.run(['broker', 'revoke', 'heating'])).code).toBe(0)
  for (const url of urls) expect(await refreshed(url, next)).toMatchObject({ status: 400, error: 'invalid_grant' })
  expect(await Promise.all(brokers.map(stopped))).toEqual([0, 0])
  // Those that have ended have told all that they had to tell.
  await close()
  const { codeExchanges, replays } = emulator.counters
  return { told: received.map(({ body: told }) => JSON.parse(told).type), codeExchanges, replays }
}

/** One sign-in, and one word that it has ended. */
const right = { told: ['sign-in.needed'], codeExchanges: 1, replays: 0 }

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100))

async function addressOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('It has no standard output.')
  const [printed]: unknown[] = await once(stdout, 'data', { signal: AbortSignal.timeout(60_000) })
  return String(printed).split('\n')[0] ?? ''
}

async function stopped(child: ChildProcess): Promise<unknown> {
  const end = once(child, 'exit')
  child.kill('SIGTERM')
  return (await end)[0]
}

interface Answer {
  readonly status: number
  readonly access_token?: string
  readonly refresh_token?: string
  readonly error?: string
}

/** Endpoint 6, as a client of the service calls it. */
async function refreshed(url: string, refresh_token: string): Promise<Answer> {
  const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'ownerapi', refresh_token })
  const response = await fetch(`${url}/oauth2/v3/token`, { method: 'POST', body })
  const answer: Omit<Answer, 'status'> = JSON.parse(await response.text())
  return { status: response.status, ...answer }
}

describeWithRedis('over Redis', () => {
  it('two brokers are one to programs and people, also when the store goes and comes back', async () => {
    await using redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always')
    expect(await lifeOfTwo(redis)).toEqual(right)
  }, 120_000)
})

describeWithPostgres('over PostgreSQL', () => {
  it('two brokers are one to programs and people, also when the store goes and comes back', async () => {
    await using postgres = await startPostgres()
    expect(await lifeOfTwo(postgres)).toEqual(right)
  }, 120_000)
})
