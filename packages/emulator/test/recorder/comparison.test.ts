/** What a replay takes for the request that was recorded, and how it answers; the emulator's tests replay whole logins. */
import { connect } from 'node:net'
import * as consumers from 'node:stream/consumers'
import { describe, expect, it } from '@jest/globals'
import { type Fixture, startReplay } from '../../src/index.ts'

type Exchange = Fixture['exchanges'][number]
type RecordedRequest = Exchange['request']
type RecordedAnswer = Exclude<Exchange['answer'], string>

const recorded: RecordedRequest = { instance: 'home', method: 'POST', path: '/', headers: {} }
const ok: RecordedAnswer = { status: 200, headers: {} }
const recording = (...exchanges: Fixture['exchanges']): Fixture => ({
  format: 'owner-sso login recording',
  version: 1,
  placeholders: {},
  exchanges,
})

/** What is said of a request that came for the one that was recorded; undefined where it is that one. */
async function problem(request: Partial<RecordedRequest>, path: string, init: RequestInit = {}): Promise<unknown> {
  await using replay = await startReplay(recording({ request: { ...recorded, ...request }, answer: ok }))
  const answer = await fetch(`${replay.authUrl}${path}`, { method: 'POST', ...init })
  return answer.status === 200 ? undefined : replay.mismatches.join().replace(/.* was recorded, but /u, '')
}

describe('a request', () => {
  it.each<[Partial<RecordedRequest>, string, string | undefined]>([
    [{}, '/', undefined],
    [{}, '/oauth2/v3/token', 'POST /oauth2/v3/token came'],
    [{}, '/qz7xqz7x', 'another request came'],
    [{ instance: 'regional' }, '/', 'it must be sent to the regional instance'],
    [{ query: { state: '1' } }, '/', 'query: state is missing'],
    [{}, '/?state=1', 'query: state was not there'],
    [{}, '/?qz7xqz7x=1', 'query: another name was not there'],
    [{ query: { state: '1' } }, '/?state=2', 'query: state must be "1"'],
    [
      { query: { state: '1' } },
      '/?state=1&state=1',
      'query: state is missing; query: state.0 was not there; query: state.1 was not there',
    ],
    [{ query: { state: ['1', '2'] } }, '/?state=1&state=2', undefined],
    [{ query: { b: '{{x}}', a: '{{x}}' } }, '/?b=1&a=1', undefined],
    [{ query: { b: '{{x}}', a: '{{x}}' } }, '/?b=1&a=2', 'query: a must be {{x}}, the value that was sent before'],
    [{ path: '/{{x:url}}/{{y}}', query: { x: '{{x}}' } }, '/a%20b/c?x=a+b', undefined],
  ])('recorded as %j, sent as %s: the difference is %s', async (request, path, words) => {
    expect(await problem(request, path)).toBe(words)
  })

  it('is compared by its cookies and its body as well, and no message shows a value of them', async () => {
    const json = { 'content-type': 'application/json' }
    expect(await problem({ cookies: { sid: '{{x}}' } }, '/', { headers: { cookie: 'other=qz7x' } })).toBe(
      'cookie: sid is missing',
    )
    const typed = { headers: json, json: { passcode: '123456' } }
    expect(await problem(typed, '/', { headers: json, body: '{"passcode":"123456"}' })).toBeUndefined()
    expect(await problem(typed, '/', { headers: json, body: '{"passcode":"qz7xqz"}' })).toBe(
      'body: passcode must be "123456"',
    )
    expect(await problem({ form: { identity: '{{x}}' } }, '/', { body: new URLSearchParams({}) })).toContain(
      'form: identity is missing',
    )
  })

  it('has a body of a megabyte at most', async () => {
    const echo = { request: { ...recorded, text: ['{{body}}'] }, answer: { ...ok, text: ['{{body}}'] } }
    await using replay = await startReplay(recording(echo))
    const send = (bytes: number) => fetch(replay.authUrl, { method: 'POST', body: 'x'.repeat(bytes) })
    expect(await (await send(2 ** 20)).text()).toBe('x'.repeat(2 ** 20))
    expect((await send(2 ** 20 + 1)).status).toBe(413)
  })
})

describe('an answer', () => {
  it('has its body in the form that was recorded, or none, and headers that HTTP can carry', async () => {
    const bodies = [{ text: ['a', '{{constructor}}'] }, { html: ['<p>', '</p>'] }, { json: { a: 1 } }, {}]
    const exchanges = bodies.map((body) => ({ request: recorded, answer: { ...ok, headers: { a: 'b€c' }, ...body } }))
    await using replay = await startReplay(recording(...exchanges))
    const answers: unknown[] = []
    while (!replay.isComplete) {
      const answer = await fetch(replay.authUrl, { method: 'POST' })
      answers.push([answer.headers.get('a'), await answer.text()])
    }
    const texts = ['a\nconstructor', '<p>\n</p>', '{"a":1}', '']
    expect(answers).toEqual(texts.map((text) => ['b?c', text]))
  })

  it('that says what was expected is marked as the replay’s own', async () => {
    await using replay = await startReplay(recording({ request: recorded, answer: ok }))
    const answer = await fetch(replay.authUrl)
    expect([answer.status, answer.headers.get('x-owner-sso-emulator'), await answer.json()]).toEqual([
      409,
      '1',
      { error: 'replay_mismatch', error_description: replay.mismatches[0], expected: recorded },
    ])
  })
})

it('a thousand sentences of what did not fit are kept', async () => {
  await using replay = await startReplay(recording({ request: recorded, answer: ok }))
  const { host, port } = new URL(replay.authUrl)
  const one = `GET / HTTP/1.1\r\nHost: ${host}\r\n`
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(`${one}\r\n`.repeat(1000) + `${one}Connection: close\r\n\r\n`)
  expect((await consumers.text(socket)).match(/^HTTP\/1\.1 409 /gmu)).toHaveLength(1001)
  expect(replay.mismatches).toHaveLength(1000)
})
