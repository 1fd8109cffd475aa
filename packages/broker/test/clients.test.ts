/** The clients and where they are kept: what is read, and what is never lost. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { notebook, type TokenStore } from '@owner-sso/core'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import fc from 'fast-check'
import { brokerClients, type BrokerClients, ClientsError, type Invitation, type ListedClient } from '../src/index.ts'

const invitation = { name: 'thermostat', accounts: ['Ann@Example.com'] }
const sha256 = (secret: string): string => createHash('sha256').update(secret).digest('hex')
const open = (): BrokerClients => brokerClients({ store: memoryTokenStore() })

describe('clients', () => {
  it('are invited once by a name, found by their secret alone, rotated, listed and revoked', async () => {
    const clients = open()
    const { client, refresh_token: secret } = await clients.invite({ ...invitation, limits: { callsPerMinute: 5 } })
    expect(client).toMatchObject({ name: 'thermostat', accounts: ['ann@example.com'], scope: ['token'] })
    expect(client).not.toHaveProperty('keys')
    await expect(clients.invite(invitation)).rejects.toMatchObject({ reason: 'name-taken' })
    expect(await clients.find(secret)).toMatchObject({ name: 'thermostat' })
    for (const other of ['', secret.slice(0, -1), ` ${secret}`, sha256(secret)]) {
      expect(await clients.find(other)).toBeUndefined()
    }
    const { refresh_token: next } = await clients.rotate('thermostat')
    expect([await clients.find(secret), (await clients.find(next))?.name]).toEqual([undefined, 'thermostat'])
    const { refresh_token: last } = await clients.rotate('thermostat', { grace: 60 })
    expect([(await clients.find(next))?.name, (await clients.find(last))?.name]).toEqual(['thermostat', 'thermostat'])
    clients.noteUse('thermostat', '192.0.2.1')
    await clients.close()
    expect(await clients.list()).toMatchObject([{ name: 'thermostat', calls: 1, last_address: '192.0.2.1' }])
    expect(await clients.revoke('thermostat')).toBe(true)
    expect([await clients.find(last), await clients.list()]).toEqual([undefined, []])
    await expect(clients.rotate('thermostat')).rejects.toMatchObject({ reason: 'unknown-client' })
  })

  it('are told with what is known of each, and rotated with the grace that was given', async () => {
    const clients = open()
    const now = 1_790_000_000
    jest.spyOn(Date, 'now').mockReturnValue(now * 1000 + 900)
    try {
      const full = { ...invitation, scope: ['proxy', 'token', 'proxy'] as const, expiresAt: now + 100.9 }
      const { refresh_token: first } = await clients.invite({ ...full, limits: { callsPerMinute: 5 } })
      const { refresh_token: kept } = await clients.invite({ ...invitation, name: 'other', limits: {} })
      const thermostat = {
        name: 'thermostat',
        accounts: ['ann@example.com'],
        scope: ['proxy', 'token'],
        invited_at: now,
        expires_at: now + 100,
        limits: { callsPerMinute: 5 },
      }
      const other = { name: 'other', accounts: ['ann@example.com'], scope: ['token'], invited_at: now }
      expect(await clients.list()).toStrictEqual([
        { calls: 0, ...thermostat },
        { calls: 0, ...other },
      ])
      for (const address of ['192.0.2.1', '192.0.2.2']) clients.noteUse('other', address)
      await clients.close()
      clients.noteUse('other', '192.0.2.3')
      await clients.close()
      expect((await clients.list())[1]).toStrictEqual({
        ...other,
        calls: 3,
        last_used_at: now,
        last_address: '192.0.2.3',
      })
      for (const grace of [-1, Number.NaN]) {
        await expect(clients.rotate('thermostat', { grace })).rejects.toThrow('grace must be a number of seconds')
      }
      const { client, refresh_token: second } = await clients.rotate('thermostat', { grace: 9.1 })
      expect(client).toStrictEqual(thermostat)
      const at = async (seconds: number) => {
        jest.spyOn(Date, 'now').mockReturnValue((now + seconds) * 1000)
        return Promise.all([first, second].map(async (secret) => (await clients.find(secret))?.name))
      }
      expect(await at(9.9)).toEqual(['thermostat', 'thermostat'])
      expect(await at(10)).toEqual([undefined, 'thermostat'])
      expect(await at(99.9)).toEqual([undefined, 'thermostat'])
      expect(await at(100)).toEqual([undefined, undefined])
      await clients.rotate('other', { grace: 1 })
      expect((await clients.find(kept))?.name).toBe('other')
      expect(await clients.revoke('nobody')).toBe(false)
      expect((await clients.list()).map(({ name }) => name)).toEqual(['thermostat', 'other'])
      await expect(clients.rotate('nobody')).rejects.toThrow('There is no client named nobody.')
      await expect(clients.invite({ ...invitation, name: 'other' })).rejects.toThrow(
        'There is a client named other already. Revoke it first, or rotate its secret.',
      )
    } finally {
      jest.restoreAllMocks()
    }
  })

  it('are all there when many are invited at the same time', async () => {
    const clients = open()
    const names = Array.from({ length: 20 }, (_, index) => `client ${index}`)
    await Promise.all(names.map((name) => clients.invite({ ...invitation, name })))
    expect((await clients.list()).map(({ name }) => name).toSorted()).toEqual(names.toSorted())
  })

  it.each([
    [{ name: '' }, /name/u],
    [{ name: 'a\nb' }, /name/u],
    [{ name: 'a/b' }, /name/u],
    [{ name: ' a' }, /name/u],
    [{ name: 'x'.repeat(65) }, /name/u],
    // What nobody sees: spaces of no width, a direction, a Hangul filler, a variation, other spaces, two for one.
    ...['\u200B', '\u200D', '\u202E', '\u3164', '\uFE0F', '\u00A0', '\u3000', '  '].map((unseen): [object, RegExp] => [
      { name: `a${unseen}b` },
      /name/u,
    ]),
    [{ accounts: ['ann@exam\u200Bple.com'] }, /accounts must be without characters that nobody sees/u],
    [{ accounts: ['ann@example.com', '\u3164ann@example.com'] }, /accounts must be without/u],
    [{ accounts: [] }, /accounts/u],
    [{ accounts: ['SUB:1'] }, /accounts/u],
    [{ accounts: ['  '] }, /accounts/u],
    [{ accounts: ['owner-sso:keeper'] }, /accounts/u],
    [{ accounts: ['half \uD83D@example.com'] }, /accounts/u],
    [{ scope: ['admin'] }, /scope/u],
    [{ scope: [] }, /scope/u],
    [{ expiresAt: 1 }, /expiresAt/u],
    [{ limits: { callsPerMinute: 0.5 } }, /callsPerMinute/u],
  ])('are not invited with %j', async (wrong, message) => {
    const clients = open()
    const all: Invitation = JSON.parse(JSON.stringify({ ...invitation, ...wrong }))
    await expect(clients.invite(all)).rejects.toThrow(message)
    expect(await clients.list()).toEqual([])
  })
})

it.each(['a', 'aB_.-@ 9', 'ß', 'x'.repeat(64)])('a client may be called %s', async (name) => {
  const clients = brokerClients({ store: memoryTokenStore() })
  const { refresh_token } = await clients.invite({ ...invitation, name })
  expect((await clients.find(refresh_token))?.name).toBe(name)
})

it('names that look alike are one name, however their accents and letters are written', async () => {
  const clients = brokerClients({ store: memoryTokenStore() })
  const { client } = await clients.invite({ ...invitation, name: 'Cafe\u0301 1' })
  expect(client.name).toBe('Caf\u00E9 1')
  for (const name of ['Caf\u00E9 1', 'Cafe\u0301 1', '\uFF23af\u00E9 \uFF11']) {
    await expect(clients.invite({ ...invitation, name })).rejects.toMatchObject({ reason: 'name-taken' })
  }
  expect((await clients.rotate('Cafe\u0301 1')).client.name).toBe('Caf\u00E9 1')
  expect([await clients.revoke('Cafe\u0301 1'), await clients.list()]).toEqual([true, []])
})

it('a client that was revoked is not found by who asks after that, though an older look is under way', async () => {
  const store = memoryTokenStore()
  const here = brokerClients({ store })
  const { refresh_token: secret } = await here.invite(invitation)
  let release = (): void => undefined
  const held: Promise<void>[] = [new Promise((resolve) => (release = resolve))]
  const slow: TokenStore = {
    ...store,
    async read(name) {
      const found = await store.read(name)
      await held.pop()
      return found
    },
  }
  const elsewhere = brokerClients({ store: slow })
  const before = elsewhere.find(secret)
  await here.revoke('thermostat')
  const after = elsewhere.find(secret)
  release()
  expect([(await before)?.name, await after]).toEqual(['thermostat', undefined])
})

it('calls are counted for the others within a minute', async () => {
  jest.useFakeTimers()
  const store = memoryTokenStore()
  const [here, elsewhere] = [brokerClients({ store }), brokerClients({ store })]
  await here.invite(invitation)
  for (const address of ['192.0.2.1', '192.0.2.2']) here.noteUse('thermostat', address)
  await jest.advanceTimersByTimeAsync(60_000)
  expect(await elsewhere.list()).toMatchObject([{ calls: 2, last_address: '192.0.2.2' }])
  jest.useRealTimers()
})

it('what one process changes counts in all of them at once, and the store holds no secret', async () => {
  const store = memoryTokenStore()
  const [clients, elsewhere] = [brokerClients({ store }), brokerClients({ store })]
  const { refresh_token: secret } = await clients.invite(invitation)
  expect(JSON.stringify(await notebook(store, 'clients').read())).not.toContain(secret)
  const { refresh_token: next } = await elsewhere.rotate('thermostat', { grace: 0 })
  expect([await clients.find(secret), (await clients.find(next))?.name]).toEqual([undefined, 'thermostat'])
  await elsewhere.revoke('thermostat')
  expect([await clients.find(next), await clients.list()]).toEqual([undefined, []])
})

/** The clients of a store that has this for their list. */
function keptAs(notes: Readonly<Record<string, unknown>>): BrokerClients {
  const store = memoryTokenStore()
  const ready = notebook(store, 'clients').change(() => notes)
  return brokerClients({ store: { ...store, read: async (name) => (await ready, store.read(name)) } })
}

describe('a list that can’t be understood', () => {
  const client = { name: 'home', accounts: ['ann'], scope: ['token'], keys: [{ sha256: sha256('key') }] }

  it.each<[string, unknown]>([
    ['that is no list', {}],
    ['of nothing', [null]],
    ['of one without a name', [{ ...client, name: '' }]],
    ['of one without accounts', [{ ...client, accounts: [] }]],
    ['of one with an account that is no text', [{ ...client, accounts: [5] }]],
    ['of one that may do all', [{ ...client, scope: ['all'] }]],
    ['of one that was invited soon', [{ ...client, invited_at: 'soon' }]],
    ['of one that expires soon', [{ ...client, expires_at: 'soon' }]],
    ['of one with limits that are none', [{ ...client, limits: 5 }]],
    ['of one that may call half as often', [{ ...client, limits: { callsPerMinute: 0.5 } }]],
    ['of one without keys', [{ ...client, keys: [] }]],
    ['of one with the key itself', [{ ...client, keys: [{ sha256: 'key' }] }]],
    ['of one whose key expires soon', [{ ...client, keys: [{ sha256: sha256('key'), expires_at: 'soon' }] }]],
  ])('such as one %s, lets nobody in', async (_, clients) => {
    const kept = keptAs({ clients })
    await expect(kept.list()).rejects.toBeInstanceOf(ClientsError)
    await expect(kept.find('key')).rejects.toMatchObject({
      reason: 'malformed',
      message: expect.stringContaining('The list of clients in the token store can’t be understood.'),
    })
  })

  it('leaves those in that were read before, and is not changed', async () => {
    const store = memoryTokenStore()
    const clients = brokerClients({ store })
    const { refresh_token: kept } = await clients.invite(invitation)
    expect((await clients.find(kept))?.name).toBe('thermostat')
    const broken = { clients: 'none' }
    await notebook(store, 'clients').change(() => broken)
    expect((await clients.find(kept))?.name).toBe('thermostat')
    await expect(clients.invite({ ...invitation, name: 'other' })).rejects.toMatchObject({ reason: 'malformed' })
    expect(await notebook(store, 'clients').read()).toEqual(broken)
  })

  it('is told so, whatever is in it', async () => {
    const entry = fc.record(
      {
        ...Object.fromEntries(
          Object.entries(client).map(([name, right]) => [name, fc.oneof(fc.constant(right), fc.anything())]),
        ),
        expires_at: fc.anything(),
        limits: fc.anything(),
      },
      { requiredKeys: [] },
    )
    const understood = async (content: object): Promise<readonly ListedClient[]> => {
      const written = JSON.stringify(content, (_, value: unknown) => (typeof value === 'bigint' ? 0 : value))
      try {
        return await keptAs(JSON.parse(written)).list()
      } catch (error) {
        if (error instanceof ClientsError) return []
        throw error
      }
    }
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.object(), fc.record({ clients: fc.array(entry) })), async (content) => {
        const clients = await understood(content)
        const isWhole = ({ name, accounts }: ListedClient): boolean => typeof name === 'string' && accounts.length > 0
        expect(clients.every(isWhole)).toBe(true)
      }),
    )
  })
})

describe('a process that dies while it changes the clients', () => {
  const program = fileURLToPath(new URL('crash/change-clients.mjs', import.meta.url))
  const children = new Set<ChildProcess>()
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'owner-sso-clients-'))
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })

  type Said = Readonly<Record<string, string | undefined>>

  /** Runs all changes, and kills the process at its n-th step. Resolves to what it said it had done, by the kind of change. */
  async function changeAll(path: string, deathAt: number): Promise<Said> {
    const child = spawn(process.execPath, [program, path, String(deathAt)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.add(child)
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
    children.delete(child)
    return Object.fromEntries(
      said
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' ')),
    )
  }

  async function diedAt(step: number): Promise<Said> {
    const path = join(folder, String(step))
    const clients = brokerClients({ store: fileTokenStore({ path, encryptionKey: Buffer.alloc(32, 7) }) })
    const { refresh_token: kept } = await clients.invite({ ...invitation, name: 'kept' })
    const { refresh_token: victim } = await clients.invite({ ...invitation, name: 'victim' })
    const said = await changeAll(path, step)
    // The next one is not held up, and everything else is as it was.
    const { refresh_token: after } = await clients.invite({ ...invitation, name: 'after' })
    const nameOf = async (secret = ''): Promise<string | undefined> => (await clients.find(secret))?.name
    expect([await nameOf(kept), await nameOf(after)]).toEqual(['kept', 'after'])
    const [invited, former, fresh] = await Promise.all(
      [said['invite'], victim, said['rotate']].map((secret) => nameOf(secret)),
    )
    const isThere = (await clients.list()).some(({ name }) => name === 'victim')
    const { invite, rotate, revoke } = said
    expect({
      step,
      invited: invite === undefined || invited === 'new',
      // Until a new secret is under way, which it is once the invitation is acknowledged.
      former: invite !== undefined || former === 'victim',
      replaced: rotate === undefined || former === undefined,
      fresh: rotate === undefined || fresh === (isThere ? 'victim' : undefined),
      revoked: revoke === undefined || !isThere,
    }).toEqual({ step, invited: true, former: true, replaced: true, fresh: true, revoked: true })
    return said
  }

  it('loses nothing at any step of an invitation, a new secret and a revocation', async () => {
    // Several at a time, until one lives to its end.
    let said: readonly Said[] = [{}]
    for (let step = 1; said.every(({ revoke }) => revoke === undefined); step += 4) {
      said = await Promise.all([0, 1, 2, 3].map((more) => diedAt(step + more)))
    }
    expect(Object.keys(said.at(-1) ?? {})).toEqual(['invite', 'rotate', 'revoke'])
  }, 240_000)
})
