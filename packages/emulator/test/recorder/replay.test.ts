import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRecorder, startReplay, type Fixture, type Replay } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { type ClientResponse, Client, codeOf, json, locationOf } from '../client.ts'

const emulator = useEmulator()
let recording: Fixture
let replay: Replay
beforeAll(async () => {
  await using recorder = await startRecorder({ upstream: emulator.authUrl })
  const client = pointedAt(recorder)
  const tokens = await client.login('plain@example.com')
  await client.refresh(tokens['refresh_token'])
  recording = recorder.fixture
})
beforeEach(async () => {
  replay = await startReplay(recording)
})
afterEach(() => replay.close())

function pointedAt({ authUrl }: { readonly authUrl: string }): Client {
  return new Client({ authUrl })
}

function problemOf(answer: ClientResponse): string {
  expect(answer.status).toBe(409)
  return json(answer)['error_description'] ?? ''
}

describe('a replay', () => {
  it('answers as the service did, to anybody’s login, again and again', async () => {
    for (const identity of ['ann@example.com', "o'hara+cars@example.com"]) {
      const client = pointedAt(replay)
      const { page, hidden } = await client.open()
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(hidden['_phase']).toBe('authenticate')
      expect(hidden['_csrf']).toMatch(/^(?=.*")(?=.*&)(?=.*<).{32}$/u)
      const answer = await client.post({ ...hidden, identity, credential: 'anything' })
      const location = locationOf(answer)
      expect(location.href).toMatch(`${replay.authUrl}/void/callback?`)
      expect(location.searchParams.get('state')).toBe('some state')
      expect(location.searchParams.get('issuer')).toBe(`${replay.authUrl}/oauth2/v3`)
      const tokens = json(await client.exchange(codeOf(answer)))
      expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 300, state: 'some state' })
      const fresh = json(await client.refresh(tokens['refresh_token']))
      expect(fresh['access_token']).not.toBe(tokens['access_token'])
      expect([replay.isComplete, replay.mismatches]).toEqual([true, []])
    }
  })

  it('says what was expected of a request that does not fit, and waits for the one that does', async () => {
    const client = pointedAt(replay)
    expect(problemOf(await client.exchange('no-code'))).toBe(
      'Exchange 1 of 4: GET /oauth2/v3/authorize was recorded, but POST /oauth2/v3/token came',
    )
    const { hidden } = await client.open()
    const form = { ...hidden, identity: 'ann@example.com', credential: 'anything' }
    const cases: [Promise<ClientResponse>, RegExp][] = [
      [
        client.post({ ...form, _csrf: 'another-csrf-9' }),
        /form: _csrf must be \{\{_csrf\.\d\}\}, the value that was sent before$/u,
      ],
      [client.post({ ...form, _phase: 'other-phase-9' }), /form: _phase must be "authenticate"$/u],
      [client.post({ ...form, credential: undefined }), /form: credential is missing$/u],
      [client.post({ ...form, captcha: 'ABCDE' }), /form: captcha was not there$/u],
      [client.post({ ...form, 'ABCDE-9': 'x' }), /form: another name was not there$/u],
      [client.post(form, client.query({ state: 'other state' })), /query: state must be \{\{state\.1\}\}/u],
      [
        client.json('/oauth2/v3/authorize', form),
        /query: client_id is missing.*content-type must be application\/x-www-form-urlencoded$/u,
      ],
    ]
    for (const [answer, message] of cases) expect(problemOf(await answer)).toMatch(message)
    expect(replay.mismatches.join()).not.toMatch(/another-csrf-9|ABCDE|other-phase-9|other state|ann@/u)

    const code = codeOf(await client.post(form))
    expect(problemOf(await client.exchange(code, { client_id: 'other' }))).toMatch(
      /body: client_id must be "ownerapi"$/u,
    )
    expect((await client.exchange(code)).status).toBe(200)
  })

  it('expects the session cookie back', async () => {
    const client = pointedAt(replay)
    const { hidden } = await client.open()
    client.cookies.delete('sso.sid')
    const answer = await client.post({ ...hidden, identity: 'ann@example.com', credential: 'x' })
    expect(problemOf(answer)).toMatch(/cookie: sso\.sid is missing$/u)
  })

  it('cuts the connection where the service did, and does not answer where it did not', async () => {
    const [first] = recording.exchanges
    if (!first) throw new Error('nothing was recorded')
    const cut = { ...first, answer: 'cut' as const }
    await using broken = await startReplay({ ...recording, exchanges: [cut, { ...first, answer: 'none' }] })
    const client = pointedAt(broken)
    await expect(client.open()).rejects.toThrow('fetch failed')
    const signal = AbortSignal.timeout(200)
    await expect(client.send(`/oauth2/v3/authorize?${client.query().toString()}`, { signal })).rejects.toThrow(
      /timeout/u,
    )
  })
})

describe('a file that is no recording', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'replay-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  const edits: [string, (text: string) => string, RegExp][] = [
    ['cut', (text) => text.slice(0, 900), /is not JSON: it was cut, or edited by hand/u],
    ['of another kind', () => '{"log": {"version": "1.2"}}', /format must be "owner-sso login recording"/u],
    ['of another version', (text) => text.replace('"version": 1', '"version": 2'), /version must be 1/u],
    ['without exchanges', (text) => text.replace('"exchanges"', '"exchange"'), /exchanges must be a list/u],
    ['with a wrong status', (text) => text.replace('"status": 200', '"status": "200"'), /exchanges\[0\] must have/u],
    ['with a wrong instance', (text) => text.replace('"home"', '"away"'), /exchanges\[0\] must have/u],
  ]
  it.each(edits)('%s: the error says where it is wrong', async (_name, edit, message) => {
    const file = join(folder, 'login.json')
    await writeFile(file, edit(`${JSON.stringify(recording, undefined, 2)}\n`))
    const failure = startReplay(file)
    await expect(failure).rejects.toThrow(message)
    expect(await readFile(file, 'utf8')).not.toBe('')
  })

  it('does not exist: the error says so', async () => {
    await expect(startReplay(join(folder, 'none.json'))).rejects.toThrow(/none\.json can't be read: ENOENT/u)
  })
})
