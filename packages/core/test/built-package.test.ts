import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { goodTokens, type SmallService, startSmallService } from './small-service.ts'

const core = JSON.stringify(fileURLToPath(new URL('../dist/index.js', import.meta.url)))
let service: SmallService
beforeAll(async () => {
  service = await startSmallService()
})
afterAll(() => service.close())

type Format = 'module' | 'commonjs'

/** Runs a program on the built package, in a process of its own. `sso` is there; `loaded()` names the packages loaded so far. */
async function run(format: Format, program: string): Promise<string> {
  const bring = (name: string): string => (format === 'module' ? `await import(${name})` : `require(${name})`)
  const source = `(async () => {
    const { Session } = ${bring('"node:inspector"')}
    const urls = new Set(), session = new Session()
    session.connect()
    session.on('Debugger.scriptParsed', ({ params }) => urls.add(params.url))
    session.post('Debugger.enable')
    const loaded = () => [...new Set([...urls].map((url) => /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1]))].filter(Boolean)
    const { createSso } = ${bring(core)}
    const sso = createSso({ authUrl: ${JSON.stringify(service.authUrl)} })
    ${program}
  })()`
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--no-warnings',
    `--input-type=${format}`,
    '-e',
    source,
  ])
  return stdout
}

const tokens = (): string => JSON.stringify({ ...goodTokens, expires_at: 0, auth_url: service.authUrl })
/** What a refresh needs to read when its token ends, where that is a JWT. */
const forJwts = ['jose']
/** What pages and cookies need. tough-cookie brings tldts. */
const forLogins = [
  'axios',
  'axios-cookiejar-support',
  'cheerio',
  'htmlparser2',
  'http-cookie-agent',
  'parse5',
  'tldts',
  'tough-cookie',
]
const heavy = [...forLogins, ...forJwts]

describe.each<Format>(['module', 'commonjs'])('the package, loaded as %s', (format) => {
  it('loads axios, cheerio and tough-cookie for a login alone, and no HTTP library for a refresh', async () => {
    const output = await run(
      format,
      `sso.createAuthorizationUrl()
       const before = loaded()
       await sso.refresh(${tokens()})
       const refreshed = loaded()
       await sso.login({ identity: 'a@example.com', credential: 'x' })
       console.log(JSON.stringify([before, refreshed, loaded()]))`,
    )
    const steps = (JSON.parse(output) as string[][]).map((names) => names.filter((name) => heavy.includes(name)))
    expect(steps.map((names) => names.toSorted())).toEqual([[], forJwts, [...forLogins, ...forJwts].toSorted()])
  })
})

describe('a polluted Object.prototype (S64)', () => {
  const pollution = {
    auth: { username: 'polluted', password: 'polluted' },
    baseURL: 'http://127.0.0.1:9',
    socketPath: '/nonexistent/polluted.sock',
    transformResponse: 'polluted',
    transformRequest: 'polluted',
    validateStatus: 'polluted',
    proxy: { host: '127.0.0.1', port: 9 },
    params: { polluted: 1 },
    headers: { polluted: '1' },
    method: 'DELETE',
    maxRedirects: 5,
    responseType: 'stream',
    localAddress: '203.0.113.1',
    insecureHTTPParser: true,
    hostname: 'polluted.invalid',
    access_token: 'polluted',
    refresh_token: 'polluted',
    type: 'polluted',
  }

  it('changes nothing for a running client, whatever it is polluted with', async () => {
    service.requests.length = 0
    const output = await run(
      'module',
      `const both = async () => sso.refresh(await sso.login({ identity: 'a@example.com', credential: 'x' }))
       // Some libraries can't even be loaded once it is polluted; what counts is that a running client is not misled.
       await both()
       const outcomes = {}
       for (const [name, value] of ${JSON.stringify(Object.entries(pollution))}) {
         Object.prototype[name] = value
         outcomes[name] = await both().then(({ access_token }) => access_token, (error) => error.message)
         delete Object.prototype[name]
       }
       console.log(JSON.stringify(outcomes))`,
    )
    const names = Object.keys(pollution)
    expect(JSON.parse(output)).toEqual(Object.fromEntries(names.map((name) => [name, goodTokens.access_token])))
    const each = [
      'GET /oauth2/v3/authorize',
      'POST /oauth2/v3/authorize',
      'POST /oauth2/v3/token',
      'POST /oauth2/v3/token',
    ]
    expect(service.requests.map(({ method, url }) => `${method} ${url.split('?')[0]}`)).toEqual(
      ['', ...names].flatMap(() => each),
    )
    expect(JSON.stringify(service.requests)).not.toMatch(/polluted|"authorization":/iu)
  })
})

describe('a process', () => {
  it('sees no unhandled rejection, whatever fails, and ends by itself (S36)', async () => {
    const output = await run(
      'module',
      `let unhandled = 0
       process.on('unhandledRejection', () => { unhandled += 1 })
       const account = { identity: 'a@example.com', credential: 'x' }
       const nowhere = createSso({ authUrl: 'http://127.0.0.1:9', timeout: 50 })
       const ending = new AbortController()
       setTimeout(() => ending.abort(), 1)
       const outcomes = await Promise.allSettled([
         nowhere.login(account),
         nowhere.refresh({ ...${tokens()}, auth_url: 'http://127.0.0.1:9' }),
         sso.login(account, { signal: ending.signal }),
         sso.login(account, { signal: AbortSignal.abort() }),
         sso.refresh(${tokens()}, { beforeSend: () => { throw new Error('late') } }),
         sso.refresh({ ...${tokens()}, auth_url: 'https://evil.example' }),
         sso.login({ ...account, passcode: 7 }),
         sso.completeLogin({}, { passcode: '1' }),
         sso.redeemCallback('nothing', {}),
       ])
       await new Promise((resolve) => setTimeout(resolve, 50))
       console.log(JSON.stringify({ unhandled, failed: outcomes.filter(({ status }) => status === 'rejected').length }))`,
    )
    expect(JSON.parse(output)).toEqual({ unhandled: 0, failed: 9 })
  })
})
