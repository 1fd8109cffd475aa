/** The broker's own answers are those of docs/reference/errors.md, each with its status. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { rejections } from '../src/http/rejection.ts'
import { rejectionNotes } from '../src/index.ts'
import { account, startHome } from './broker-home.ts'

afterEach(() => void jest.restoreAllMocks())

const errors = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8')
const documented = [...errors.matchAll(/^\| `(ERR_BROKER_\w+)` +\| (\d{3}) /gmu)].map(([, code, status]) => [
  code,
  Number(status),
])

it('are documented, each with its status', () => {
  expect(Object.entries(rejections).map(([code, [status]]) => [code, status])).toEqual(documented)
})

describe('say what is wrong, and what to do', () => {
  it('to a program that calls', async () => {
    await using home = await startHome({ hosts: ['broker.example'], limits: { wrongKeysPerMinute: 2 } })
    const [reader, caller] = [await home.invite('reader'), await home.invite('caller', { scope: ['proxy'] })]
    const gone = await home.invite('gone')
    await home.clients.revoke('gone')
    const soon = await home.invite('soon', { expiresAt: Date.now() / 1000 + 60 })
    const said = async (path: string, headers: Record<string, string> = {}, body?: string): Promise<string> => {
      const sent = httpRequest(home.url + path, { headers, agent: false, method: body === undefined ? 'GET' : 'POST' })
      const [answer] = await once(sent.end(body), 'response')
      const { detail, error_description: description } = JSON.parse(await text(answer))
      return `${answer.statusCode} ${detail ?? description}`
    }
    const key = (secret: string) => ({ authorization: `Bearer ${secret}` })
    const grant = (secret: string) => `grant_type=refresh_token&refresh_token=${secret}`
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const headers of [{}, { authorization: reader }, { authorization: `Token ${reader}` }, key(`"${reader}"`)])
      expect(await said('/token', headers)).toMatch(/^401 Send the key of a program as Authorization: Bearer KEY\./u)
    expect(await said('/token', key(caller))).toMatch(
      /^403 This program may call .* gets no token\. .* --scope token\.$/u,
    )
    expect(await said('/oauth/token', form, grant(caller))).toMatch(/^400 This program may call .* --scope token\.$/u)
    for (const path of ['/api/1/vehicles', '/api/1/products?a=1'])
      expect(await said(path, key(caller))).toMatch(/^404 This broker forwards no calls .* --with-proxy /u)
    expect(await said('/nowhere')).toMatch(/^404 There is nothing here\. Programs call \/token/u)
    expect(await said('/token', { ...key(reader), host: 'pi.home' })).toMatch(/^421 .* --public-url .* option hosts/u)
    for (const wrong of [gone, reader.slice(0, -1)])
      expect(await said('/token', key(wrong))).toMatch(
        /^401 No program has this key: it is mistyped, expired, revoked/u,
      )
    expect(await said('/token', key('x'))).toMatch(/^429 Many wrong keys .* No program has this key/u)
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 61_000)
    expect(await said('/token', key(soon))).toMatch(/^401 No program has this key: it is mistyped, expired, revoked/u)
    expect(await said('/oauth/token', form, grant(soon))).toMatch(
      /^400 The refresh_token is unknown.* broker rotate NAME/u,
    )
    expect((await home.token(reader)).status).toBe(200)
  })

  it('to whoever opens the socket before anybody has signed in', async () => {
    await using home = await startHome({ where: (folder) => ({ unix: join(folder, 'broker.sock') }) })
    await home.tokens.forget(account)
    const socketPath = join(home.folder, 'broker.sock')
    const [answer] = await once(httpRequest({ socketPath, path: '/token' }).end(), 'response')
    expect([answer.statusCode, JSON.parse(await text(answer))]).toMatchObject([
      401,
      { code: 'ERR_BROKER_NOBODY_SIGNED_IN', detail: expect.stringContaining('owner-sso login') },
    ])
  })

  it('to the operator, each once in a while, without a word of a stranger', async () => {
    const told: string[] = []
    await using home = await startHome({
      audit: rejectionNotes((what, address) => void told.push(`${address} ${what}`)),
    })
    const [reader, caller] = [await home.invite('reader'), await home.invite('caller', { scope: ['proxy'] })]
    await home.token(reader)
    const provoke = async (): Promise<void> => {
      for (const wrong of ['owner-sso-mistyped', 'another', caller]) await home.token(wrong)
      await home.refresh('owner-sso-mistyped')
      await home.refresh(reader, { body: '{' })
    }
    await provoke()
    await provoke()
    expect(told).toEqual([
      expect.stringMatching(/^127\.0\.0\.1 A program was rejected: it sent no key, .* See owner-sso broker list\.$/u),
      expect.stringMatching(/^127\.0\.0\.1 caller was rejected: This program was not invited for that\./u),
    ])
    expect(told.join('\n')).not.toMatch(/owner-sso-|another/u)
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 600_000)
    await provoke()
    expect(told).toHaveLength(4)
  })
})
