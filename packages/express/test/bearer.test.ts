import { execFile } from 'node:child_process'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { FirewallChallengeError } from '@owner-sso/core'
import express, { type Express } from 'express'
import { createProxyMiddleware } from 'http-proxy-middleware'
import { bearer, type BearerOptions, ownerApiBearer, type OwnerApiBearerOptions } from '../src/index.ts'
import { rawRequest, sendRaw } from './raw-http.ts'
import { type Listening, listen, type OwnerApi, startOwnerApi } from './servers.ts'
import { account, token, tokensOf } from './tokens.ts'
import { withinAMinute } from './within-a-minute.ts'

let ownerApi: OwnerApi
let home: Listening | undefined

beforeEach(async () => {
  ownerApi = await startOwnerApi()
})
afterEach(async () => {
  await home?.close()
  home = undefined
  await ownerApi.close()
})

const credentials = [
  'Authorization: Bearer CALLER-CANARY',
  'Cookie: session=CALLER-CANARY',
  'Proxy-Authorization: Basic CALLER-CANARY',
  'X-Hop: CALLER-CANARY',
  'Connection: X-Hop, keep-alive',
]

/** Sends as a caller with credentials does. */
async function callWithCredentials(app: Express, path = '/api/1/vehicles') {
  home = await listen(app)
  return sendRaw(home.port, rawRequest('GET', path, credentials))
}

describe('in front of http-proxy-middleware', () => {
  it.each([
    ['the owner', ownerApiBearer],
    ['any', bearer],
  ])('%s API gets the account’s token and none of the caller’s credentials', async (_, middleware) => {
    const app = express().use(
      middleware({ tokens: await tokensOf(), account }),
      createProxyMiddleware({ target: ownerApi.url, changeOrigin: true }),
    )
    const answer = await callWithCredentials(app)
    expect(answer.status).toBe(200)
    expect(ownerApi.seen).toHaveLength(1)
    expect(ownerApi.seen[0]!.headers.authorization).toBe(`Bearer ${token}`)
    expect(JSON.stringify(ownerApi.seen)).not.toContain('CALLER-CANARY')
  })

  it('nothing is forwarded where there is no token', async () => {
    const app = express().use(
      ownerApiBearer({ tokens: await tokensOf(), account: 'stranger@example.com' }),
      createProxyMiddleware({ target: ownerApi.url, changeOrigin: true }),
    )
    const answer = await callWithCredentials(app)
    expect(answer.status).toBe(401)
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'ERR_SSO_SIGNED_OUT', status: 401 })
    expect(ownerApi.seen).toEqual([])
  })

  it('a caller waits until the token is there', async () => {
    let deliver: (token: string) => void = () => {}
    const delivered = new Promise<string>((resolve) => (deliver = resolve))
    const tokens = { getAccessToken: () => delivered, invalidate: () => Promise.resolve() }
    const app = express().use(ownerApiBearer({ tokens, account }), createProxyMiddleware({ target: ownerApi.url }))
    const answering = callWithCredentials(app)
    await new Promise((resolve) => setImmediate(resolve))
    expect(ownerApi.seen).toEqual([])
    deliver(token)
    expect((await answering).status).toBe(200)
    expect(ownerApi.seen[0]!.headers.authorization).toBe(`Bearer ${token}`)
  })
})

it('answers 504 where account never settles', async () => {
  const told: unknown[] = []
  const options = {
    account: () => new Promise<never>(() => undefined),
    onProblem: (error: unknown) => told.push(error),
  }
  const app = express().use(ownerApiBearer({ tokens: await tokensOf(), ...options }))
  const answer = await withinAMinute(() => callWithCredentials(app))
  expect(answer?.status).toBe(504)
  expect(JSON.parse(answer?.body ?? '')).toMatchObject({ code: 'ERR_OWNER_API_TIMEOUT', status: 504 })
  expect(String(told)).toContain('account has given no result')
})

it('replaces the caller’s headers in headers, rawHeaders and headersDistinct, and says whose token it is', async () => {
  const app = express().use(ownerApiBearer({ tokens: await tokensOf(), account: () => Promise.resolve(account) }))
  app.use((request, response, next) => {
    const { headers, rawHeaders, headersDistinct, ownerSso } = request
    const answer = { headers, rawHeaders, headersDistinct, account: ownerSso?.account }
    ownerSso?.getAccessToken().then((current) => response.json({ ...answer, token: current }), next)
  })
  const seen = JSON.parse((await callWithCredentials(app)).body) as Record<string, unknown>
  expect(seen).toMatchObject({ account, token, headers: { authorization: `Bearer ${token}` } })
  expect(seen['headersDistinct']).toMatchObject({ authorization: [`Bearer ${token}`] })
  expect(JSON.stringify(seen)).not.toContain('CALLER-CANARY')
})

it('takes a Connection header away with the headers that it names, and leaves any other', async () => {
  const app = express().use(ownerApiBearer({ tokens: await tokensOf(), account }))
  app.use(({ headers, rawHeaders, headersDistinct }, response) => {
    const raw = rawHeaders.map((name) => name.toLowerCase()).includes('connection')
    response.json([headers.connection ?? 'none', raw, headersDistinct['connection'] !== undefined])
  })
  home = await listen(app)
  const seen = async (lines: string[]): Promise<unknown> =>
    JSON.parse((await sendRaw(home!.port, rawRequest('GET', '/', lines))).body)
  expect(await seen([])).toEqual(['close', true, true])
  expect(await seen(['X-Hop: 1', 'Connection: X-Hop'])).toEqual(['none', false, false])
  const tokens = await tokensOf()
  const rewritten = async (rawHeaders: string[]): Promise<string[]> => {
    const request = Object.assign(new IncomingMessage(new Socket()), { rawHeaders })
    await new Promise((resolve) => ownerApiBearer({ tokens, account })(request, new ServerResponse(request), resolve))
    return request.rawHeaders
  }
  const came = ['A', 'cookie', 'Cookie', 'x', 'AUTHORIZATION', 'y', 'B', 'authorization', 'cookie2', 'z', 'C', 'c']
  expect(await rewritten(came)).toEqual([
    'A',
    'cookie',
    'B',
    'authorization',
    'C',
    'c',
    'Authorization',
    `Bearer ${token}`,
  ])
  const own = 'Keep-Alive, , upgrade'
  expect(await seen([`Connection: ${own}`])).toEqual([`${own}, close`, true, true])
})

it('takes the account of the request’s user', async () => {
  const app = express()
  app.use((request, _response, next) => {
    Object.assign(request, { user: { account } })
    next()
  })
  app.use(ownerApiBearer({ tokens: await tokensOf() }), (request, response) => {
    response.send(request.ownerSso?.account)
  })
  expect((await callWithCredentials(app)).body).toBe(account)
})

describe('without a token', () => {
  const blocked = () => Promise.reject(new FirewallChallengeError(Math.floor(Date.now() / 1000) + 100))
  const tokens = { getAccessToken: blocked, invalidate: () => Promise.resolve() }

  it('answers by the table', async () => {
    const answer = await callWithCredentials(express().use(ownerApiBearer({ tokens, account })))
    expect(answer.status).toBe(503)
    expect(answer.head).toMatch(/^retry-after: (?:99|100)$/mu)
  })

  it('lets onError answer', async () => {
    const onError: BearerOptions['onError'] = (error, _request, response) => {
      response.writeHead(302, { location: `/login?because=${(error as FirewallChallengeError).code}` }).end()
    }
    const answer = await callWithCredentials(express().use(ownerApiBearer({ tokens, account, onError })))
    expect(answer.head).toContain('location: /login?because=ERR_SSO_FIREWALL_CHALLENGE')
  })

  it.each([
    ['onError throws', `ownerApiBearer({ tokens, account: 'ann', onError: () => { throw new Error('words') } })`],
    [
      'onError throws what can’t be looked at',
      `ownerApiBearer({ tokens, account: 'ann', onError: () => { throw Object.defineProperty(new Error('words'), 'stack', { get() { throw new Error('words') } }) } })`,
    ],
    [
      'onError rejects',
      `ownerApiBearer({ tokens, account: 'ann', onError: async () => { throw new Error('words') } })`,
    ],
    [
      'the next handler throws',
      `(request, response) => ownerApiBearer({ tokens: good, account: 'ann' })(request, response, () => { throw new Error('words') })`,
    ],
    [
      'the handler behind the proxy throws',
      `(request, response) => ownerApiProxy({ target: 'http://127.0.0.1:9', tokens, authorize: () => { throw new Error('own') }, account: 'ann' })(request, response, () => { throw new Error('words') })`,
    ],
  ])('keeps the process alive where %s: there is an answer and a warning', async (_, handler) => {
    const program = `
      import { once } from 'node:events'
      import { createServer } from 'node:http'
      import { ownerApiBearer, ownerApiProxy } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
      const invalidate = async () => undefined
      const tokens = { getAccessToken: async () => { throw new Error('no token') }, invalidate }
      const good = { getAccessToken: async () => 'a token', invalidate }
      const warnings = []
      process.on('warning', ({ code, message }) => warnings.push([code, message]))
      const server = createServer(${handler}).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const answers = []
      for (let time = 0; time < 2; time += 1) {
        const answer = await fetch('http://127.0.0.1:' + server.address().port + '/api/1/vehicles')
        answers.push(answer.status)
      }
      console.log(JSON.stringify({ answers, warnings }))
      process.exit(0)`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    const { answers, warnings }: { answers: number[]; warnings: string[][] } = JSON.parse(stdout)
    expect(answers).toEqual([500, 500])
    expect(warnings.map(([code]) => code)).toEqual(['OWNER_SSO_CALLBACK', 'OWNER_SSO_CALLBACK'])
    expect(stdout).not.toContain('words')
  })

  it('hands other errors to the application', async () => {
    const failing = () => Promise.reject(new Error('mine'))
    const app = express().use(ownerApiBearer({ tokens, account: failing }))
    app.use(((error: Error, _request, response, _next) =>
      response.status(418).send(error.message)) satisfies express.ErrorRequestHandler)
    const answer = await callWithCredentials(app)
    expect([answer.status, answer.body]).toEqual([418, 'mine'])
  })
})

it.each<[string, object | undefined]>([
  ['ownerApiBearer takes an object with tokens, account, onProblem, onError', undefined],
  ['tokens must be', {}],
  ['tokens must be', { tokens: {} }],
  ['account must be', { account: 5 }],
  ['onError must be', { onError: 'answer' }],
  ['onProblem must be', { onProblem: 'log' }],
])('rejects wrong options at the start: %s (%j)', async (message, wrong) => {
  const options = wrong && {
    ...('tokens' in wrong || message.startsWith('tokens') ? {} : { tokens: await tokensOf() }),
    ...wrong,
  }
  expect(() => ownerApiBearer(options as OwnerApiBearerOptions)).toThrow(message)
  expect(() => ownerApiBearer(null as never)).toThrow(
    'ownerApiBearer takes an object with tokens, account, onProblem, onError',
  )
})

describe('bearer, for any API', () => {
  it('has no account by default: whose token it is, the application says', () => {
    expect(() => bearer(null as never)).toThrow('bearer takes an object with tokens, account, onProblem, onError')
  })

  it('asks for the account of each request, and answers 401 where there is none', async () => {
    const tokens = await tokensOf()
    expect(() => bearer({ tokens } as never)).toThrow('account must be a name or a function of the request')
    const app = express().use(
      bearer({ tokens, account: ({ headers }) => (headers.cookie === 'session=CALLER-CANARY' ? account : undefined) }),
      (request, response) => response.json(request.ownerSso),
    )
    const answer = await callWithCredentials(app)
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { account }])
    const stranger = await sendRaw(home?.port ?? 0, rawRequest('GET', '/', []))
    expect([stranger.status, stranger.body]).toEqual([401, expect.stringContaining('signed')])
  })
})
