import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import * as core from '@owner-sso/core'
import express from 'express'
import { ownerApiBearer, ownerApiProxy, type Problem, ssoErrorHandler } from '../../src/index.ts'
import { type Listening, listen, type OwnerApi, startOwnerApi } from '../servers.ts'
import { account, tokensOf } from '../tokens.ts'

/** What the operator has to know, and nobody else. */
const canaries = ['/srv/tokens/CANARY', 'owner-sso:CANARY', 'auth-canary.example', 'CANARY']
const [path, key, host] = canaries

const errors: core.SsoError[] = [
  new core.StoreError('permissions', `The folder ${path} can’t be written to.`),
  new core.StoreError('corrupt', `The record at ${key} is damaged.`),
  new core.UnreachableError(`https://${host} is not on a loopback host.`),
  new core.SsoTimeoutError(`https://${host} did not answer.`),
  new core.RegionNotAllowedError(`https://${host}`),
  new core.UnexpectedResponseError(`${host} said something`),
  new core.SsoError('ERR_SSO_PASSCODE_REQUIRED', `at ${host}`),
  Object.assign(new core.SignedOutError(), { message: path, reason: key }),
  Object.assign(new core.ReauthenticationRequiredError('refresh_token_rejected'), { reason: host }),
]

let home: Listening | undefined
let ownerApi: OwnerApi
let told: [error: unknown, problem: Problem][]
const onProblem = (error: unknown, problem: Problem): void => void told.push([error, problem])

beforeEach(async () => {
  ownerApi = await startOwnerApi()
  told = []
})
afterEach(async () => {
  await home?.close()
  await ownerApi.close()
})

const failing = async (error: unknown): Promise<core.TokenManager> =>
  Object.assign(await tokensOf(), {
    getAccessToken: () => {
      throw error
    },
  })

const answerers: [string, (error: unknown) => Promise<Listening>][] = [
  [
    'ownerApiProxy',
    async (error) =>
      listen(
        ownerApiProxy({ target: ownerApi.url, tokens: await failing(error), account, authorize: true, onProblem }),
      ),
  ],
  [
    'ownerApiBearer',
    async (error) => listen(express().use(ownerApiBearer({ tokens: await failing(error), account, onProblem }))),
  ],
  [
    'ssoErrorHandler',
    (error) =>
      listen(
        express()
          .use((_request, _response, next) => next(error))
          .use(ssoErrorHandler({ onProblem })),
      ),
  ],
]

describe.each(answerers)('%s', (_name, start) => {
  it.each(errors.map((error) => [error.code, error.message, error] as const))(
    'says one fixed sentence about %s, and the log gets the rest (%s)',
    async (code, _message, error) => {
      home = await start(error)
      const answer = await fetch(`${home.url}/api/1/vehicles`)
      const text = await answer.text()
      expect(canaries.filter((canary) => text.includes(canary))).toEqual([])
      expect(JSON.parse(text)).toMatchObject({ code, status: answer.status })
      expect(told).toEqual([[error, JSON.parse(text)]])
      expect(told[0]![0]).toBe(error)
    },
  )
})

it('a code has the same sentence whatever the error says', async () => {
  const details = new Set<unknown>()
  for (const error of errors.filter(({ code }) => code === 'ERR_SSO_STORE')) {
    const one = await answerers[0]![1](error)
    details.add(((await (await fetch(`${one.url}/api/1/vehicles`)).json()) as Problem).detail)
    await one.close()
  }
  expect(details.size).toBe(1)
})

it('the log gets what an owner API that can’t be reached failed of, and the caller does not', async () => {
  const target = ownerApi.url
  await ownerApi.close()
  const proxy = ownerApiProxy({ target, tokens: await tokensOf(), account, authorize: true, onProblem })
  home = await listen(proxy)
  const text = await (await fetch(`${home.url}/api/1/vehicles`)).text()
  expect(text).not.toContain('ECONNREFUSED')
  expect(told).toMatchObject([[{ code: 'ECONNREFUSED' }, { code: 'ERR_OWNER_API_UNREACHABLE' }]])
  await proxy.close()
  ownerApi = await startOwnerApi()
})

it.each([
  ['throws', (): never => fail()],
  ['rejects', (): never => Promise.reject(new Error('the log is full')) as never],
])('a listener that %s is a warning, and the answer is the same', async (_, mistaken) => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const tokens = await failing(new core.SignedOutError())
  home = await listen(ownerApiProxy({ target: ownerApi.url, tokens, account, authorize: true, onProblem: mistaken }))
  expect((await fetch(`${home.url}/api/1/vehicles`)).status).toBe(401)
  const [message, options] = warned.mock.calls[0] ?? []
  expect(message).toBe('onProblem failed.')
  expect(options).toMatchObject({ code: 'OWNER_SSO_CALLBACK', detail: expect.stringMatching(/^at /u) })
  expect(JSON.stringify(options)).not.toContain('the log is full')
  warned.mockRestore()
})

it('a listener that is none is a TypeError', async () => {
  const listener = { onProblem: 'log' as never }
  const options = { tokens: await tokensOf(), account, ...listener }
  const rejected = new TypeError('onProblem must be a function; text came')
  expect(() => ssoErrorHandler(listener)).toThrow(rejected)
  expect(() => ownerApiBearer(options)).toThrow(rejected)
  expect(() => ownerApiProxy({ ...options, target: ownerApi.url, authorize: true })).toThrow(rejected)
})

function fail(): never {
  throw new Error('the log is full')
}
