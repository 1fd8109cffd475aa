/** Each limit at it and one beyond it: what the doctor finds. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals'
import {
  createSso,
  createTokenManager,
  currentHolder,
  firewallRecordName,
  type TokenRecord,
  type Transport,
} from '@owner-sso/core'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { exitCodes } from '../src/command-error.ts'
import { checkBlocks } from '../src/doctor/block-check.ts'
import { findingLines, good, note, problem, summary } from '../src/doctor/finding.ts'
import { checkReach } from '../src/doctor/reach-check.ts'
import { checkRefreshes } from '../src/doctor/refresh-check.ts'
import { checkStore } from '../src/doctor/store-check.ts'
import { noteEntry } from '../src/keyring/key-note.ts'
import { renderedLines } from '../src/output.ts'

const folder = mkdtempSync(join(tmpdir(), 'owner-sso-limits-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('the doctor ends with how much there is to do, and each finding with what', () => {
  const [fine, wrong] = [good('clock', 'right'), problem('store', 'It is down.', 'Start it.')]
  expect([[], [fine], [fine, wrong], [wrong, wrong]].map(summary)).toEqual([
    'No problem was found.',
    'No problem was found.',
    '1 problem: mend the first one, then look again.',
    '2 problems: mend the first one, then look again.',
  ])
  expect(
    [fine, note('clock', 'wrong', 'Set it.'), wrong].map((each) => renderedLines(findingLines(each), 'stdout')),
  ).toEqual([
    ['✔ clock           right'],
    ['• clock           wrong', '                  → Set it.'],
    ['✖ store           It is down.', '                  → Start it.'],
  ])
  expect(wrong.exitCode).toBe(exitCodes.usage)
})

describe('the doctor, about the store', () => {
  const findings = (path: string, more: object = {}) =>
    checkStore({ store: { value: `file:${path}`, from: '--store' }, regionalAuthUrls: { value: [] }, ...more } as never)
  const plain = { level: 'good', about: 'encryption', text: 'none: OWNER_SSO_ENCRYPTION_KEY would seal the records' }

  it('says where it is, how many are signed in, and that nobody else gets at it', async () => {
    const path = mkdtempSync(join(folder, 'store-'))
    expect(await findings(path)).toEqual([
      { level: 'good', about: 'store', text: `file:${path} (--store), 0 accounts` },
      { level: 'good', about: 'file modes', text: '0700: only you can look into it' },
      { level: 'good', about: 'hard links', text: 'the file system has them' },
      plain,
    ])
    expect(readdirSync(path).filter((name) => name.startsWith('doctor'))).toEqual([])
    for (const mode of [0o701, 0o710]) {
      chmodSync(path, mode)
      expect(await findings(path)).toMatchObject([
        {},
        { level: 'problem', text: `Other users can look into ${path}.`, fix: `Run chmod 700 ${path}`, exitCode: 6 },
        plain,
      ])
    }
  })

  it('asks whose tokens are meant, where several are signed in and none is named', async () => {
    const path = mkdtempSync(join(folder, 'store-'))
    const tokens = createTokenManager({
      sso: createSso({ authUrl: 'https://auth.example.com' }),
      store: fileTokenStore({ path }),
    })
    const grant = { refresh_token: 'x'.repeat(20), auth_url: 'https://auth.example.com' }
    await tokens.save('ann@example.com', grant)
    const [one, ...others] = await findings(path)
    expect(one?.text).toBe(`file:${path} (--store), 1 account`)
    expect(others.filter(({ level }) => level === 'problem')).toEqual([])
    await tokens.save('bob@example.com', { ...grant, refresh_token: 'y'.repeat(20) })
    const text = 'Several accounts are signed in and none is named: ann@example.com, bob@example.com.'
    expect((await findings(path)).filter(({ level }) => level === 'problem')).toMatchObject([
      { about: 'account', text },
    ])
    const account = { value: 'ann@example.com', from: '--account' }
    expect((await findings(path, { account })).filter(({ level }) => level === 'problem')).toEqual([])
  })

  it('leaves the keyring alone where it was told to', async () => {
    const path = mkdtempSync(join(folder, 'store-'))
    noteEntry(path, 'one')
    const off = { keyring: { value: false, from: '--no-keyring' } }
    expect(await findings(path, off)).toMatchObject([
      { level: 'problem', text: expect.stringContaining('the keyring is turned off'), exitCode: 6 },
    ])
  })
})

describe('the doctor, about the firewall', () => {
  const now = 1_790_000_000
  const [home, other] = ['https://auth.example.com', 'https://auth.example.co.uk']
  afterEach(() => void jest.restoreAllMocks())
  const checked = async (url: string, remembered: object) => {
    jest.spyOn(Date, 'now').mockReturnValue(now * 1000)
    const store = memoryTokenStore()
    const record = {
      schema: 1,
      generation: 1,
      state: 'firewall',
      challenges: 1,
      noted_at: now - 60,
      wait: 900,
      ...remembered,
    }
    await store.swap(firewallRecordName(url), 0, record as unknown as TokenRecord, 'one')
    return checkBlocks(store, { authUrl: { value: home }, regionalAuthUrls: { value: ['no address', other] } } as never)
  }

  it.each([
    [home, 'auth.example.com'],
    [other, 'auth.example.co.uk'],
  ])('tells how long %s still blocks', async (url, host) => {
    const text = `The firewall of ${host} blocks this machine: nothing is sent there for another 14 min.`
    expect(await checked(url, {})).toMatchObject([{ level: 'problem', text, exitCode: exitCodes.firewall }])
  })

  it.each([
    [{ wait: 61 }, 1],
    [{ wait: 60 }, 0],
    [{ challenges: 0 }, 0],
    [{ state: 'signed-out' }, 0],
  ])('finds of %j so many: %i', async (remembered, count) => {
    expect(await checked(home, remembered)).toHaveLength(count)
  })
})

describe('the doctor, about refreshes', () => {
  const now = (): number => Date.now() / 1000
  const held = {
    schema: 1,
    generation: 1,
    refreshes: 1,
    lineage: 'l',
    obtained_at: now() - 60,
    lifetime: 3660,
    tokens: {
      access_token: 'access',
      refresh_token: 'refresh',
      token_type: 'Bearer',
      auth_url: 'https://auth.example.com',
      expires_at: now() + 3600,
    },
  }
  const checked = async (record?: object) => {
    const store = memoryTokenStore()
    if (record !== undefined) await store.swap('ann', 0, { ...held, ...record } as unknown as TokenRecord, 'one')
    const tokens = createTokenManager({ sso: createSso({ authUrl: 'https://auth.example.com' }), store })
    return checkRefreshes(['ann'], tokens, store)
  }
  const underWay = (age: number) => ({
    state: 'signed-in',
    intent: { id: 'one', at: now() - age, holder: currentHolder(), replay: 0 },
  })

  it('finds nothing where nothing is under way', async () => {
    expect(await checked()).toEqual([])
    expect(await checked({ state: 'signed-in' })).toEqual([])
  })

  it('finds one that takes longer than a refresh can', async () => {
    expect(await checked(underWay(80))).toMatchObject([
      { about: 'refresh', text: `ann is being refreshed by process ${process.pid}, for 1 min` },
    ])
    jest.spyOn(Date, 'now').mockReturnValue(Date.now())
    const ages = [0, 89.75, 90, 91]
    const levels = await Promise.all(ages.map(async (age) => (await checked(underWay(age)))[0]))
    jest.restoreAllMocks()
    expect(levels.map((finding) => finding?.level)).toEqual(['good', 'good', 'note', 'note'])
    expect(levels[2]?.text).toContain('which is too long')
  })

  it('finds one whose answer was lost, and says when it is settled', async () => {
    const intent = { id: 'one', at: now() - 61, holder: currentHolder(), replay: 1, answerLost: true }
    const [finding] = await checked({ state: 'signed-in', intent })
    expect(finding?.text).toMatch(/^A refresh of ann is in doubt for 1 min: /u)
    expect(finding).toMatchObject({
      about: 'refresh',
      fix: expect.stringMatching(/^Its next use after \d\d min settles it/u),
    })
  })

  it('finds who has to sign in', async () => {
    const ended = { state: 'reauthentication-required', reason: 'refresh_token_rejected' }
    expect(await checked(ended)).toMatchObject([{ text: 'ann has to sign in again (refresh token rejected).' }])
  })
})

describe('the doctor, about who can be reached', () => {
  const transport = { tls: {}, http2: false, userAgent: 'a user agent' } as Transport
  const servers: Server[] = []
  afterEach(async () => {
    jest.restoreAllMocks()
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
  })
  const at = async (server: Server): Promise<string> => {
    servers.push(server.listen(0, '127.0.0.1'))
    await once(server, 'listening')
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const found = async (answer: RequestListener) =>
    checkReach('it', `http://${await at(createServer(answer))}/path?query`, transport)
  const reached = { about: 'it', level: 'good', text: 'reached without TLS' }

  it.each([
    [403, 'text/html; charset=utf-8', true],
    [429, 'text/html', true],
    [402, 'text/html', false],
    [404, 'text/html', false],
    [428, 'text/html', false],
    [430, 'text/html', false],
    [403, 'application/json', false],
    [403, 'x-text/html', false],
    [403, undefined, false],
    [500, undefined, false],
  ])('an answer %i of the type %s is a firewall’s: %s', async (status, type, isFirewall) => {
    const [finding] = await found((_request, response) => {
      response.writeHead(status, { ...(type !== undefined && { 'content-type': type }) }).end()
    })
    expect(finding).toMatchObject(
      isFirewall ? { text: `A firewall answers (${status}).`, exitCode: exitCodes.firewall } : reached,
    )
  })

  it.each([
    [0, 'right, to 1 s'],
    [1.4, 'right, to 1 s'],
    [2, 'right, to 2 s'],
    [10.4, 'right, to 10 s'],
    [-10.4, 'right, to 10 s'],
    [10.5, 'This machine’s clock is 11 s ahead: passcodes would be wrong.'],
    [-11, 'This machine’s clock is 11 s behind: passcodes would be wrong.'],
  ])('a clock that is %f s ahead is told as: %s', async (ahead, text) => {
    const now = 1_790_000_000
    jest.spyOn(Date, 'now').mockReturnValue((now + ahead) * 1000)
    const date = new Date(now * 1000).toUTCString()
    const findings = await found((_request, response) => response.setHeader('date', date).end())
    expect(findings).toMatchObject([
      reached,
      { about: 'clock', level: text.startsWith('right') ? 'good' : 'note', text },
    ])
  })

  it('says nothing of the clock where an answer has no time', async () => {
    for (const date of [undefined, 'soon']) {
      const findings = await found((_request, response) => {
        response.sendDate = false
        if (date !== undefined) response.setHeader('date', date)
        response.end()
      })
      expect(findings).toMatchObject([reached])
    }
  })

  it('makes one request, under the name of the transport, and waits for no more than the head of the answer', async () => {
    const ended: Promise<unknown>[] = []
    const asked: unknown[] = []
    await found(({ method, url, headers }, response) => {
      ended.push(once(response, 'close'))
      const { host: _host, ...others } = headers
      asked.push([method, url, others])
      response.write('a body that never ends')
    })
    await Promise.all(ended)
    expect(asked).toEqual([
      ['GET', '/path?query', { 'user-agent': 'a user agent', accept: '*/*', connection: 'close' }],
    ])
  })

  const trust = 'If its certificate authority is a private one, give its PEM file with --ca.'
  it.each([
    ['ENOTFOUND', 'There is no such host: check the address for a typing mistake.'],
    ['EAI_AGAIN', 'Names can’t be looked up: check the network.'],
    ['ECONNREFUSED', 'Nothing listens there: check the port, and whether the service is running.'],
    ['ETIMEDOUT', 'It does not answer: a firewall on the way may drop the request.'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', trust],
    ['SELF_SIGNED_CERT_IN_CHAIN', trust],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', trust],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', trust],
    ['CERT_HAS_EXPIRED', 'Its certificate has expired, or this machine’s clock is wrong.'],
    ['EPROTO', 'No TLS version is common to both: try another --transport.'],
    ['EOTHER', 'Check the address, and whether this machine has a network.'],
    [undefined, 'Check the address, and whether this machine has a network.'],
  ])('says what to do about %s', async (code, fix) => {
    // As the system reports it, to whoever looks a name up.
    const lookup = (_name: string, _options: object, callback: (error: Error) => void) =>
      process.nextTick(callback, code === undefined ? new Error() : Object.assign(new Error(), { code }))
    const url = 'https://sso.example'
    expect(await checkReach('it', url, { ...transport, tls: { lookup } } as never)).toMatchObject([
      { about: 'it', text: `${url} can’t be reached (${code ?? 'no answer'}).`, fix, exitCode: exitCodes.network },
    ])
  })
})
