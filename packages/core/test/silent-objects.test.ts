/** Token sets, pending logins and authorization requests: whole for those who store them, silent everywhere else. */
import assert from 'node:assert'
import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { format, inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createSso } from '../src/index.ts'
import { canaries } from './canaries.ts'
import { html, json, redirectToCallback, type SmallService, startSmallService } from './small-service.ts'

const { credential, passcode, cookie, csrf, accessToken, refreshToken, idToken } = canaries
const loginPage = {
  headers: { 'content-type': 'text/html', 'set-cookie': [`sid=${cookie}; Path=/`] },
  body: `<form><input type="hidden" name="_csrf" value="${csrf}"><input type="hidden" name="transaction_id" value="t-1"><input name="identity"><input name="credential"></form>`,
}
const tokens = { access_token: accessToken, refresh_token: refreshToken, id_token: idToken, token_type: 'Bearer' }

type Kind = 'token set' | 'pending login' | 'authorization request'
const kinds: Kind[] = ['token set', 'pending login', 'authorization request']
let service: SmallService
let objects: Record<Kind, object>
let secrets: Record<Kind, string[]>

beforeAll(async () => {
  service = await startSmallService({
    loginPage,
    formSubmission: html(`<form><input type="hidden" name="_csrf" value="${csrf}"><input name="passcode"></form>`),
    factors: json({ data: [{ id: 'f-1', name: 'phone' }] }),
    verify: json({ data: { valid: true } }),
    token: json(tokens),
  })
  const sso = createSso({ authUrl: service.authUrl })
  const outcome = await sso.beginLogin({ identity: 'a@example.com', credential })
  if (outcome.kind !== 'passcode-required') throw new Error('no second factor')
  const { request } = sso.createAuthorizationUrl()
  const set = await sso.refresh({ ...tokens, expires_at: 0, auth_url: service.authUrl })
  objects = { 'token set': set, 'pending login': outcome.pending, 'authorization request': request }
  const { state, codeVerifier } = JSON.parse(JSON.stringify(request))
  secrets = {
    'token set': [accessToken, refreshToken, idToken],
    'pending login': [credential, cookie, csrf],
    'authorization request': [state, codeVerifier],
  }
})
afterAll(() => service.close())

/** What a console prints. */
function printed(print: (to: Console) => void): string {
  let text = ''
  const stream = new Writable({ write: (chunk, _encoding, done) => ((text += String(chunk)), done()) })
  print(new Console(stream, stream))
  return text
}

/** What a failed assertion says of itself, and what it prints as. */
function difference(compare: () => void): string {
  try {
    compare()
  } catch (error) {
    return `${error instanceof Error ? error.message : ''}\n${inspect(error, { depth: 9 })}`
  }
  throw new Error('nothing differed')
}

const sinks: [string, (object: object) => string][] = [
  ['console.log', (object) => printed((to) => to.log(object, { nested: [object] }))],
  ['console.dir', (object) => printed((to) => to.dir(object, { depth: 9 }))],
  ['console.dir of what it is in', (object) => printed((to) => to.dir({ nested: [object] }, { depth: 9 }))],
  ['console.table', (object) => printed((to) => to.table(object))],
  ['console.table of a list', (object) => printed((to) => to.table([object]))],
  ['inspect without its own ways', (object) => inspect({ object }, { customInspect: false, depth: 9, getters: true })],
  ['%o', (object) => format('%o', { object })],
  ['%O', (object) => format('%O', { object })],
  ['assert.deepEqual', (object) => difference(() => assert.deepEqual(object, { other: 1 }))],
  ['assert.deepStrictEqual', (object) => difference(() => assert.deepStrictEqual({ object }, { object: 1 }))],
  ['assert.strictEqual', (object) => difference(() => assert.strictEqual(object, {}))],
  ['assert.notDeepStrictEqual', (object) => difference(() => assert.notDeepStrictEqual(object, object))],
  ['a spread copy', (object) => JSON.stringify({ ...object })],
  ['a structured clone', (object) => JSON.stringify(structuredClone(object))],
]

describe.each(kinds)('a %s', (kind) => {
  it.each(sinks)('shows no secret through %s', (_, show) => {
    const text = show(objects[kind])
    expect(text).not.toBe('')
    expect(secrets[kind].filter((secret) => text.includes(secret))).toEqual([])
  })

  it('is whole in JSON, by itself and inside another object', () => {
    const stored = [JSON.stringify(objects[kind]), JSON.stringify({ in: [objects[kind]] }), format('%j', objects[kind])]
    for (const text of stored) expect(secrets[kind].filter((secret) => !text.includes(secret))).toEqual([])
  })
})

describe('what was stored as JSON and read back', () => {
  const back = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value))

  it('goes on with a login', async () => {
    const sso = createSso({ authUrl: service.authUrl })
    const outcome = await sso.beginLogin({ identity: 'a@example.com', credential })
    if (outcome.kind !== 'passcode-required') throw new Error('no second factor')
    service.answer({ formSubmission: redirectToCallback({ code: canaries.code }) })
    expect(await sso.completeLogin(back(outcome.pending), { passcode })).toMatchObject(tokens)
  })

  it('is refreshed', async () => {
    const sso = createSso({ authUrl: service.authUrl })
    const set = await sso.refresh({ ...tokens, expires_at: 0, auth_url: service.authUrl })
    expect(await sso.refresh(back(set))).toMatchObject(tokens)
  })
})
