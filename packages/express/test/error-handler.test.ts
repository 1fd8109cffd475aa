import { afterEach, expect, it } from '@jest/globals'
import { ReauthenticationRequiredError, RefreshInDoubtError } from '@owner-sso/core'
import express from 'express'
import { ssoErrorHandler } from '../src/index.ts'
import { type Listening, listen } from './servers.ts'

let home: Listening

afterEach(() => home.close())

async function answerTo(error: Error, begin = false): Promise<Response> {
  const app = express()
  app.get('/', (_request, response) => {
    if (begin) response.write('half')
    throw error
  })
  app.use(ssoErrorHandler())
  app.use(((other: Error, _request, response, _next) => {
    if (response.headersSent) response.destroy()
    else response.status(418).send(other.message)
  }) satisfies express.ErrorRequestHandler)
  home = await listen(app)
  return fetch(home.url)
}

it('answers an SsoError as the proxy does', async () => {
  const answer = await answerTo(new ReauthenticationRequiredError('refresh_token_rejected'))
  expect(answer.status).toBe(401)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.headers.get('www-authenticate')).toBe('OwnerSso realm="owner API"')
  expect(await answer.json()).toEqual({
    title: 'Unauthorized',
    status: 401,
    detail: 'This account has to sign in again.',
    code: 'ERR_SSO_REAUTHENTICATION_REQUIRED',
    reason: 'refresh_token_rejected',
  })
})

it('tells when to come back', async () => {
  const answer = await answerTo(new RefreshInDoubtError(Date.now() / 1000 + 60))
  expect(answer.status).toBe(503)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(50)
})

it('leaves other errors to the next handler', async () => {
  const answer = await answerTo(new Error('mine'))
  expect([answer.status, await answer.text()]).toEqual([418, 'mine'])
})

it('leaves an answer that has begun to the next handler', async () => {
  await expect(answerTo(new RefreshInDoubtError(0), true).then((answer) => answer.text())).rejects.toThrow(
    /terminated|fetch failed/u,
  )
})
