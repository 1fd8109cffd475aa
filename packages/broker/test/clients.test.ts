/** The clients and their file: what is read, what is kept, and what is never lost. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { currentHolder, type TokenStore } from '@owner-sso/core'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import fc from 'fast-check'
import { brokerClients, type BrokerClients, ClientsError, type Invitation, type ListedClient } from '../src/index.ts'

const invitation = { name: 'thermostat', accounts: ['Ann@Example.com'] }
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'owner-sso-clients-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const sha256 = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** The clients in a file that a person wrote. */
async function written(content: object | string): Promise<{ readonly file: string; readonly clients: BrokerClients }> {
  const file = join(await mkdtemp(join(folder, 'written-')), 'clients.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
  return { file, clients: brokerClients({ file }) }
}

const places: readonly [string, () => BrokerClients][] = [
  ['a file', () => brokerClients({ file: join(folder, `${Math.random()}.json`) })],
  ['a token store', () => brokerClients({ store: memoryTokenStore() })],
]

describe.each(places)('clients in %s', (_place, open) => {
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

  it('get another secret at each use, and the former one ends a grace after it was used', async () => {
    const clients = open()
    const now = 1_790_000_000
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now * 1000)
    try {
      const { refresh_token: first } = await clients.invite(invitation)
      const second = (await clients.replaceSecret(first, 5)) ?? ''
      expect(await clients.replaceSecret('nobody’s', 5)).toBeUndefined()
      clock.mockReturnValue((now + 50) * 1000)
      expect((await clients.find(first))?.name).toBe('thermostat')
      await clients.replaceSecret(second, 5)
      const at = async (seconds: number) => {
        clock.mockReturnValue((now + seconds) * 1000)
        return Promise.all([first, second].map(async (secret) => (await clients.find(secret))?.name))
      }
      expect(await at(54)).toEqual(['thermostat', 'thermostat'])
      expect(await at(55)).toEqual([undefined, 'thermostat'])
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

describe('the file of clients', () => {
  it('holds no secret, is its owner’s alone, and is read again when somebody else changes it', async () => {
    const file = join(folder, 'clients.json')
    const [clients, elsewhere] = [brokerClients({ file }), brokerClients({ file })]
    const { refresh_token: secret } = await clients.invite(invitation)
    expect(await readFile(file, 'utf8')).not.toContain(secret)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    for (let turn = 0; turn < 20; turn += 1) {
      const { refresh_token: next } = await elsewhere.rotate('thermostat', { grace: 0 })
      expect((await clients.find(next))?.name).toBe('thermostat')
      expect(await clients.find(secret)).toBeUndefined()
    }
    await elsewhere.revoke('thermostat')
    expect(await clients.list()).toEqual([])
    // A change by hand that can't be read changes nothing.
    const { refresh_token: kept } = await clients.invite(invitation)
    expect((await clients.find(kept))?.name).toBe('thermostat')
    await writeFile(file, '{')
    expect((await clients.find(kept))?.name).toBe('thermostat')
    await expect(clients.invite({ ...invitation, name: 'other' })).rejects.toMatchObject({ reason: 'malformed' })
    expect(await readFile(file, 'utf8')).toBe('{')
  })

  it('takes the changes of all who share it one at a time, and passes over a process that died in the middle', async () => {
    const file = join(folder, 'shared.json')
    // As another process leaves it that was killed; where the system can't prove that, half a minute has to pass.
    const { boot, pidNamespace } = currentHolder()
    const dead = JSON.stringify({ pid: 2 ** 22 + 1, boot, pidNamespace })
    if (boot !== undefined) await writeFile(`${file}.lock-7`, dead)
    const all = Array.from({ length: 4 }, () => brokerClients({ file }))
    const names = all.flatMap((_, writer) => [0, 1, 2, 3].map((index) => `client ${writer} ${index}`))
    const inviteAll = (clients: BrokerClients, writer: number): Promise<unknown> =>
      Promise.all(
        names
          .filter((name) => name.startsWith(`client ${writer}`))
          .map((name) => clients.invite({ ...invitation, name })),
      )
    await Promise.all(all.map(inviteAll))
    expect((await all[0]?.list())?.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    // One lock is left, which nobody holds.
    const [lock = '', ...more] = (await readdir(folder)).filter((name) => name.startsWith('shared.json.'))
    expect([more, JSON.parse(await readFile(join(folder, lock), 'utf8'))]).toEqual([[], { free: true }])
  })

  it('leaves files alone whose names are only like those of its locks', async () => {
    const file = join(folder, 'foreign.json')
    const foreign = ['x9', '9x', '0x', 'x0', '0-x', ' 9', '0000000000000009', '', '-1'].map(
      (end) => `${file}.lock-${end}`,
    )
    for (const name of foreign) await writeFile(name, '')
    await writeFile(`${file}.lock-0-ab`, 'a draft of a process that died')
    await brokerClients({ file }).invite(invitation)
    const left = (await readdir(folder))
      .filter((name) => name.startsWith('foreign.json.'))
      .map((name) => join(folder, name))
    expect(left.toSorted()).toEqual([...foreign, `${file}.lock-1`].toSorted())
  })

  it('says so where it can’t be written', async () => {
    const file = join(folder, 'nowhere', 'clients.json')
    const rejected = await brokerClients({ file })
      .invite(invitation)
      .catch((error: unknown) => error)
    expect(rejected).toBeInstanceOf(ClientsError)
    expect(rejected).toMatchObject({ reason: 'unwritable', message: `${file} can’t be written (ENOENT).` })
  })

  it('tells keys apart whose hashes begin alike', async () => {
    const file = join(folder, 'alike.json')
    const hash = sha256('key')
    const other = hash.slice(0, -1) + (hash.endsWith('0') ? '1' : '0')
    const entry = { accounts: ['ann@example.com'], scope: ['token'] }
    const [only, right] = [
      { ...entry, name: 'alike', keySha256: other },
      { ...entry, name: 'right', keySha256: hash },
    ]
    const nameIn = async (clients: readonly object[]): Promise<string | undefined> => {
      await writeFile(file, JSON.stringify({ clients }), { mode: 0o600 })
      return (await brokerClients({ file }).find('key'))?.name
    }
    expect([await nameIn([only]), await nameIn([only, right]), await nameIn([right, only])]).toEqual([
      undefined,
      'right',
      'right',
    ])
  })

  it('stays a link where it is one, and is rejected where everybody may write to it', async () => {
    const [file, link] = [join(folder, 'linked.json'), join(folder, 'link.json')]
    await writeFile(file, '{"clients":[]}')
    await symlink(file, link)
    await brokerClients({ file: link }).invite(invitation)
    expect(await readFile(file, 'utf8')).toContain('thermostat')
    await chmod(file, 0o606)
    await expect(brokerClients({ file }).list()).rejects.toMatchObject({ reason: 'not-private' })
    await expect(brokerClients({ file: folder }).list()).rejects.toBeInstanceOf(ClientsError)
  })

  const keySha256 = sha256('key')
  it.each([
    ['must be a list', { clients: {} }],
    ['client 1: it has no name', { clients: [null] }],
    ['client 1: it has no name', { clients: [{ name: '', keySha256, accounts: ['ann'] }] }],
    ['client 1: keySha256', { clients: [{ name: 'home', keySha256: 'key', accounts: ['ann'] }] }],
    ['client 1: accounts', { clients: [{ name: 'home', keySha256, accounts: [] }] }],
    ['client 1: accounts', { clients: [{ name: 'home', keySha256, accounts: ['SUB:1'] }] }],
    ['client 1: scope', { clients: [{ name: 'home', keySha256, accounts: ['ann'], scope: ['all'] }] }],
    ['client 1: olderKeys', { clients: [{ name: 'home', keySha256, accounts: ['ann'], olderKeys: {} }] }],
    ['client 1: its times', { clients: [{ name: 'home', keySha256, accounts: ['ann'], expiresAt: 'soon' }] }],
    ['client 1: limits', { clients: [{ name: 'home', keySha256, accounts: ['ann'], limits: {} }] }],
    ['same API key', { clients: ['home', 'away'].map((name) => ({ name, keySha256, accounts: ['ann'] })) }],
  ])('is rejected because %s', async (what, content) => {
    const { file, clients } = await written(content)
    const rejected = await clients.list().catch((error: unknown) => error)
    expect(rejected).toBeInstanceOf(ClientsError)
    expect(rejected).toMatchObject({ reason: 'malformed', message: expect.stringContaining(`${file}: `) })
    expect(rejected).toMatchObject({ message: expect.stringContaining(what) })
  })

  it('is read as people and earlier processes wrote it, in any case of the hash and with older keys', async () => {
    const client = {
      name: 'home',
      keySha256: keySha256.toUpperCase(),
      olderKeys: [{ keySha256: sha256('older'), expiresAt: '2100-01-31T12:00:00Z' }, { keySha256: sha256('oldest') }],
      accounts: ['Ann@example.com', 'ann@example.com', 'sub:7'],
      scope: ['token', 'proxy', 'token'],
      invitedAt: '2026-01-31T12:00:00.900Z',
      expiresAt: '2101-01-31T12:00:00Z',
      limits: { callsPerMinute: 1 },
    }
    const list = { clients: [client, { name: 'bare', keySha256: sha256('b'), accounts: ['ann'] }] }
    // With the byte order mark that an editor put before it.
    const { clients } = await written(`\uFEFF${JSON.stringify(list)}`)
    const listed = [
      {
        name: 'home',
        calls: 0,
        accounts: ['ann@example.com', 'sub:7'],
        scope: ['token', 'proxy'],
        invited_at: Date.parse('2026-01-31T12:00:00Z') / 1000,
        expires_at: Date.parse('2101-01-31T12:00:00Z') / 1000,
        limits: { callsPerMinute: 1 },
      },
      { name: 'bare', calls: 0, accounts: ['ann'], scope: ['proxy'] },
    ]
    expect(await clients.list()).toEqual(listed)
    // A change of another one leaves it as it is.
    await clients.invite(invitation)
    expect((await clients.list()).slice(0, 2)).toEqual(listed)
    for (const secret of ['key', 'older', 'oldest']) expect((await clients.find(secret))?.name).toBe('home')
  })

  it('whatever is in it, is understood or rejected with a sentence', async () => {
    const entry = fc.record(
      {
        name: fc.anything(),
        keySha256: fc.oneof(fc.constant(keySha256), fc.anything()),
        accounts: fc.oneof(fc.constant(['ann']), fc.anything()),
        olderKeys: fc.anything(),
        scope: fc.anything(),
        expiresAt: fc.anything(),
        limits: fc.anything(),
      },
      { requiredKeys: [] },
    )
    const { file } = await written({})
    const understood = async (content: object): Promise<readonly ListedClient[]> => {
      await writeFile(
        file,
        JSON.stringify(content, (_, value: unknown) => (typeof value === 'bigint' ? 0 : value)),
      )
      try {
        return await brokerClients({ file }).list()
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

describe('a file that processes share', () => {
  afterEach(() => void jest.restoreAllMocks())
  const stranger = { ...currentHolder(), boot: 'another machine' }
  const locksOf = async (file: string) =>
    (await readdir(join(file, '..'))).filter((name) => name.includes('.lock')).map((name) => name.split('.json.')[1])

  it('is locked with the next number, which is free and private afterwards', async () => {
    const { file, clients } = await written({})
    await writeFile(`${file}.lock-9`, JSON.stringify({ free: true }))
    await clients.invite(invitation)
    expect(await locksOf(file)).toEqual(['lock-10'])
    expect(JSON.parse(await readFile(`${file}.lock-10`, 'utf8'))).toEqual({ free: true })
    expect((await stat(`${file}.lock-10`)).mode & 0o777).toBe(0o600)
  })

  it.each<[string, object | string, boolean]>([
    ['free', { free: true }, true],
    ['nobody’s', { pid: '1' }, true],
    ['of one that is no object', 'null', true],
    ['of this process', currentHolder(), false],
    ['of a stranger, for now', stranger, false],
    ['not to be read', '{', false],
  ])('has a lock that is %s: another takes it over: %j: %s', async (_, holder, isFree) => {
    const { file, clients } = await written({})
    await writeFile(`${file}.lock-1`, typeof holder === 'string' ? holder : JSON.stringify(holder))
    // Each look at the clock is a second later, so that ten seconds of waiting are soon over.
    let now = Date.now()
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => (now += 1000))
    const told = ({ reason, message }: ClientsError) => ({ reason, message })
    const outcome = await clients.invite(invitation).then(() => 'invited', told)
    clock.mockRestore()
    const message = `Another process has been changing ${file} for ten seconds. Try again.`
    expect(outcome).toEqual(isFree ? 'invited' : { reason: 'busy', message })
    expect(await locksOf(file)).toEqual([isFree ? 'lock-2' : 'lock-1'])
  })

  it('is taken from a stranger who has had it for more than half a minute', async () => {
    const { file, clients } = await written({})
    await writeFile(`${file}.lock-1`, JSON.stringify(stranger))
    const longAgo = Date.now() / 1000 - 31
    await utimes(`${file}.lock-1`, longAgo, longAgo)
    await clients.invite(invitation)
    expect(await locksOf(file)).toEqual(['lock-2'])
  })

  it('says what is wrong with it', async () => {
    const problemOf = (clients: BrokerClients) => clients.list().catch((error: unknown) => error)
    for (const content of ['', '[]', 'null', '"text"', '7']) {
      const { file, clients } = await written(content)
      const message = `${file} must be a JSON object.`
      expect(await problemOf(clients)).toMatchObject({ reason: 'malformed', message })
    }
    const { file, clients } = await written({})
    await chmod(file, 0o602)
    const message = `Everybody may write to ${file}: run chmod 600 ${file}.`
    expect(await problemOf(clients)).toMatchObject({ reason: 'not-private', message })
    await chmod(file, 0o664)
    expect(await problemOf(clients)).toEqual([])
    expect(await problemOf(brokerClients({ file: join(file, 'more') }))).toMatchObject({
      reason: 'unreadable',
      message: `${file}/more can’t be read (ENOTDIR).`,
    })
  })

  it('says what is wrong with the clients before what is wrong with the counts of their calls', async () => {
    const { file, clients } = await written('no JSON')
    // Seen at the first look, when the clients are not yet read.
    await writeFile(`${file}.uses`, '{}')
    await chmod(`${file}.uses`, 0o602)
    const message = `${file} must be a JSON object.`
    await expect(clients.list()).rejects.toMatchObject({ reason: 'malformed', message })
  })
})

it('a client that goes by the rule is never locked out, whichever answers are lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 40 }), async (arrivals) => {
      const clients = brokerClients({ store: memoryTokenStore() })
      let { refresh_token: held } = await clients.invite(invitation)
      for (const arrives of arrivals) {
        expect((await clients.find(held))?.name).toBe('thermostat')
        const issued = await clients.replaceSecret(held, 0)
        if (arrives) held = issued ?? ''
      }
      expect((await clients.find(held))?.name).toBe('thermostat')
    }),
  )
})

it('a client that gets no answer has eight unused tokens at the most: the list does not grow with each try', async () => {
  const store = memoryTokenStore()
  const clients = brokerClients({ store })
  const { refresh_token: first } = await clients.invite(invitation)
  const issued: string[] = []
  for (let n = 0; n < 9; n += 1) issued.push((await clients.replaceSecret(first, 60)) ?? '')
  const alive = await Promise.all([first, ...issued].map(async (secret) => (await clients.find(secret)) !== undefined))
  expect(alive).toEqual([true, false, ...Array.from({ length: 8 }, () => true)])
})

describe('a process that dies while it changes the clients', () => {
  const program = fileURLToPath(new URL('crash/change-clients.mjs', import.meta.url))
  const children = new Set<ChildProcess>()
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL')
  })

  type Said = Readonly<Record<string, string | undefined>>

  /** Runs all changes, and kills the process at its n-th step. Resolves to what it said it had done, by the kind of change. */
  async function changeAll(kind: string, path: string, secret: string, deathAt: number): Promise<Said> {
    const child = spawn(process.execPath, [program, kind, path, secret, String(deathAt)], {
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

  it.each([
    ['file', (path: string) => ({ file: path })],
    ['store', (path: string) => ({ store: fileTokenStore({ path, encryptionKey: Buffer.alloc(32, 7) }) })],
  ])(
    'loses nothing at any step of an invitation, a refresh, a new secret and a revocation: in a %s',
    async (kind, place) => {
      const diedAt = async (step: number): Promise<Said> => {
        const path = join(folder, `${kind}-${step}`)
        const clients = brokerClients(place(path))
        const { refresh_token: kept } = await clients.invite({ ...invitation, name: 'kept' })
        const { refresh_token: victim } = await clients.invite({ ...invitation, name: 'victim' })
        const said = await changeAll(kind, path, victim, step)
        // The next one is not held up, and everything else is as it was.
        const { refresh_token: after } = await clients.invite({ ...invitation, name: 'after' })
        const nameOf = async (secret = ''): Promise<string | undefined> => (await clients.find(secret))?.name
        expect([await nameOf(kept), await nameOf(after)]).toEqual(['kept', 'after'])
        const [invited, former, own, fresh] = await Promise.all(
          [said['invite'], victim, said['refresh'], said['rotate']].map((secret) => nameOf(secret)),
        )
        const isThere = (await clients.list()).some(({ name }) => name === 'victim')
        const { invite, refresh, rotate, revoke } = said
        expect({
          step,
          invited: invite === undefined || invited === 'new',
          // Until a new secret or a revocation is under way, which it is once the refresh is acknowledged.
          former: refresh !== undefined || former === 'victim',
          replaced: rotate === undefined || (former === undefined && own === undefined),
          fresh: rotate === undefined || fresh === (isThere ? 'victim' : undefined),
          revoked: revoke === undefined || !isThere,
        }).toEqual({ step, invited: true, former: true, replaced: true, fresh: true, revoked: true })
        if (kind === 'store') return said
        // The one lock that is left is free; no half file is.
        const left = (await readdir(folder)).filter((name) => name.startsWith(`${kind}-${step}.`))
        expect([step, left.map((name) => name.replace(/\d+$/u, 'N'))]).toEqual([step, [`${kind}-${step}.lock-N`]])
        return said
      }
      // Several at a time, until one lives to its end.
      let said: readonly Said[] = [{}]
      for (let step = 1; said.every(({ revoke }) => revoke === undefined); step += 4) {
        said = await Promise.all([0, 1, 2, 3].map((more) => diedAt(step + more)))
      }
      expect(Object.keys(said.at(-1) ?? {})).toEqual(['invite', 'refresh', 'rotate', 'revoke'])
    },
    240_000,
  )
})
