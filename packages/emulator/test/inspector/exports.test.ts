import { describe, expect, it } from '@jest/globals'
import type { ExchangeLine } from '../../src/inspector/exchange-view.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client } from '../client.ts'
import { callOwnerApi, inspectedAccounts, loginOverRegion } from './inspector-page.ts'

const emulator = useEmulator({ accounts: inspectedAccounts })

interface Download {
  readonly type: string | null
  readonly name: string | null
  readonly text: string
}

/** The last login as a file. */
async function download(extension: 'har' | 'mmd'): Promise<Download> {
  const listed = await fetch(`${emulator.authUrl}/_emulator/exchanges`)
  const { exchanges } = JSON.parse(await listed.text()) as { exchanges: readonly ExchangeLine[] }
  const flow = Math.max(...exchanges.map((line) => line.flow ?? 0))
  const answer = await fetch(`${emulator.authUrl}/_emulator/logins/${flow}.${extension}`)
  const { headers } = answer
  return { type: headers.get('content-type'), name: headers.get('content-disposition'), text: await answer.text() }
}

/** A login over a region, an owner API call, a refresh whose answer is lost: with everything that is secret in it. */
async function login(): Promise<ReadonlySet<string>> {
  const { client, tokens, secrets } = await loginOverRegion(emulator, 'regional@example.com')
  await callOwnerApi(emulator, tokens['access_token'])
  emulator.once('refresh', { drop: 'after-commit' })
  await client.refresh(tokens['refresh_token']).catch(() => undefined)
  return secrets
}

/** What HAR 1.2 requires of an entry. */
const text: unknown = expect.any(String)
const number: unknown = expect.any(Number)
const list: unknown = expect.any(Array)
const entry = {
  startedDateTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u),
  time: number,
  request: {
    method: text,
    url: text,
    httpVersion: text,
    cookies: list,
    headers: list,
    queryString: list,
    bodySize: number,
  },
  response: { status: number, statusText: text, httpVersion: text, cookies: list, headers: list, redirectURL: text },
  cache: {},
  timings: { send: number, wait: number, receive: number },
}

describe('a login as HAR', () => {
  it('is a valid archive of all its requests, to both regions and the owner API, under their own addresses', async () => {
    const secrets = await login()
    const file = await download('har')
    expect([...secrets].filter((secret) => secret === '' || isIn(file.text, secret))).toEqual([])
    const har: { log: { entries: { request: { method: string; url: string }; response: { status: number } }[] } } =
      JSON.parse(file.text)
    const [first] = har.log.entries
    expect(first?.request).toMatchObject({ cookies: [], bodySize: 0 })
    expect(first?.request).not.toHaveProperty('postData')
    expect(first?.response).toMatchObject({ statusText: 'See Other', content: { size: -1, mimeType: '' } })
    // What was cut off has no answer.
    expect(har.log.entries.at(-1)?.response).toEqual({
      status: 0,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: [],
      content: { size: -1, mimeType: '' },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
    })
    expect(har.log).toMatchObject({ version: '1.2', creator: { name: text, version: text } })
    for (const each of har.log.entries) expect(each).toMatchObject(entry)
    expect([file.type, file.name]).toEqual([
      'application/json; charset=utf-8',
      expect.stringMatching(/^attachment; filename="login-\d+\.har"$/u),
    ])
    const told = har.log.entries.map(({ request: { method, url }, response: { status } }) => {
      const { origin, pathname } = new URL(url)
      return [method, origin, pathname, status]
    })
    const { authUrl, regionalAuthUrl, ownerApiUrl } = emulator
    expect(told).toEqual([
      ['GET', authUrl, '/oauth2/v3/authorize', 303],
      ['GET', regionalAuthUrl, '/oauth2/v3/authorize', 200],
      ['POST', regionalAuthUrl, '/oauth2/v3/authorize', 302],
      ['POST', regionalAuthUrl, '/oauth2/v3/token', 200],
      ['GET', regionalAuthUrl, '/oauth2/v3/authorize/mfa/factors', 200],
      ['POST', regionalAuthUrl, '/oauth2/v3/authorize/mfa/verify', 200],
      ['POST', regionalAuthUrl, '/oauth2/v3/authorize/mfa/verify', 200],
      ['POST', regionalAuthUrl, '/oauth2/v3/authorize', 302],
      ['POST', regionalAuthUrl, '/oauth2/v3/token', 200],
      ['GET', ownerApiUrl, '/api/1/vehicles', 200],
      ['POST', regionalAuthUrl, '/oauth2/v3/token', 0],
    ])
    expect(file.text).toContain('fault: drop: after-commit')
  })
})

describe('a login as a Mermaid diagram', () => {
  it('tells it in order, with whoever was asked, and no secret', async () => {
    const secrets = await login()
    const file = await download('mmd')
    const lines = file.text.replaceAll(/\d+ ms/gu, 'N ms').split('\n')
    expect(lines.slice(0, 7)).toEqual([
      'sequenceDiagram',
      '    participant client as Client',
      '    participant service as SSO service',
      '    participant region as SSO service, other region',
      '    participant owner as Owner API',
      '    client->>service: GET /oauth2/v3/authorize',
      '    service-->>client: 303 in N ms: the account lives in the other region',
    ])
    expect(lines.slice(-5)).toEqual([
      '    owner-->>client: 200 in N ms: the access token is good',
      '    client->>region: POST /oauth2/v3/token',
      '    Note over region: fault: drop: after-commit',
      '    region--xclient: the connection was cut after N ms: tokens issued, the refresh token rotated',
      '',
    ])
    expect([file.type, file.name]).toEqual([
      'text/plain; charset=utf-8',
      expect.stringMatching(/^attachment; filename="login-\d+\.mmd"$/u),
    ])
    expect([...secrets].filter((secret) => secret === '' || isIn(file.text, secret))).toEqual([])
  })
})

it('there is no file of a login that never was', async () => {
  await new Client(emulator).open()
  for (const file of ['999.har', '999.mmd', '0.har', 'x.har', '1.zip', 'undefined.har']) {
    expect([file, (await fetch(`${emulator.authUrl}/_emulator/logins/${file}`)).status]).toEqual([file, 404])
  }
})

function isIn(file: string, secret: string): boolean {
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)].some((form) => file.includes(form))
}
