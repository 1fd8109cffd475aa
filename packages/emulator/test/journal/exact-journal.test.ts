/** Each limit at it and one beyond it: the journal, its masks, and what is behind them. */
import { ServerResponse } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import { createFlows, type Traces } from '../../src/journal/flows.ts'
import { createJournal } from '../../src/journal/journal.ts'
import { createRequestReader } from '../../src/journal/request-log.ts'
import { clipped, createRawExchanges, type RawExchange } from '../../src/journal/raw-exchanges.ts'
import { createClock } from '../../src/service/clock.ts'
import { masked, unmasked } from '../../src/journal/masking.ts'
import { incoming } from '../http/incoming.ts'

describe('the log, masked', () => {
  const fields = (query: string): object => masked.query(query)

  it('shows names that look like names, of a hundred fields', () => {
    const name = `_${'x'.repeat(39)}`
    expect(fields(`${name}=1`)).toEqual({ [name]: '[masked]' })
    expect(fields(`${name}x=1`)).toEqual({ '[masked]': '[masked]' })
    for (const odd of ['1a', '-a', 'a b', 'a/', '']) expect(fields(`${odd}=1`)).toEqual({ '[masked]': '[masked]' })
    expect(fields('count=1&count=2&scope=a&scope=b')).toEqual({ count: '[masked]', scope: ['a', 'b'] })
    expect(fields('alone')).toEqual({ '[masked]': '[masked]' })
    const many = Array.from({ length: 101 }, (_, index) => `n${index}=1`)
    expect(Object.keys(fields(many.join('&')))).toHaveLength(100)
  })

  it('shows of headers and cookies the names, and the scheme of a credential', () => {
    expect(
      masked.requestHeaders({
        authorization: 'bearer secret',
        'proxy-authorization': 'Basic',
        cookie: 'a=secret; secret; =secret; b=',
        referer: 'https://a.example/path?code=secret',
        accept: 'text/html?q',
      }),
    ).toEqual({
      authorization: 'bearer [masked]',
      'proxy-authorization': '[masked]',
      cookie: 'a=[masked]; [masked]; [masked]; b=[masked]',
      referer: 'https://a.example/path',
      accept: 'text/html?q',
    })
    expect(masked.requestHeaders({ authorization: 'XBearer secret' })).toEqual({ authorization: '[masked]' })
    expect(
      masked.answerHeaders({
        'Set-Cookie': ['a=secret; Path=/', 'b=secret'],
        Location: 'https://a.example/x?code=secret&state=s&issuer=i%2F#secret',
        'Content-Type': 'text/html',
        'X-Other': 'secret',
      }),
    ).toEqual({
      'Set-Cookie': ['a=[masked]; Path=/', 'b=[masked]'],
      Location: 'https://a.example/x?code=[masked]&state=s&issuer=i%2F',
      'Content-Type': 'text/html',
      'X-Other': '[masked]',
    })
    expect(masked.answerHeaders({ location: '/x#secret' })).toEqual({ location: '/x' })
    expect(unmasked.answerHeaders({ 'X-Other': 'secret' })).toEqual({ 'X-Other': 'secret' })
    expect(unmasked.requestHeaders({ a: 'secret' })).toEqual({ a: 'secret' })
    expect(unmasked.query('a=secret&b')).toEqual({ a: 'secret', b: '' })
  })

  it('reads a body that is JSON, and no other', () => {
    const body = (content: string) => masked.answerBody('application/json', content)
    // The word of an error is shown, and no other value of that name.
    expect(body('{"code":"A","error":{"code":"B","other":"C"},"list":[{"code":"D"}]}')).toEqual({
      code: '[masked]',
      error: { code: 'B', other: '[masked]' },
      list: [{ code: '[masked]' }],
    })
    expect(body(' {"token_type":"Bearer","access_token":"secret","list":[1,null,true]}')).toEqual({
      token_type: 'Bearer',
      access_token: '[masked]',
      list: ['[masked]', null, true],
    })
    for (const none of ['', 'x{"a":1}', '{"a":', '"a"']) expect(body(none)).toEqual({})
    const page = '<title>Hi</title><input name="a" value="secret">'
    expect(masked.answerBody('text/html', page)).toEqual({ page: 'Hi', inputs: { a: '[masked]' } })
    expect(masked.answerBody('text/html', '<title>Hi</title>')).toEqual({ page: 'Hi' })
    expect(masked.answerBody('text/plain', page)).toEqual({})
    expect(masked.answerHeaders({ location: '/x?error=login_cancelled&error_description=a&other=secret' })).toEqual({
      location: '/x?error=login_cancelled&error_description=a&other=[masked]',
    })
  })
})

describe('what is behind the masks', () => {
  const raw = (length: number, answer?: string): RawExchange => ({
    url: '/',
    headers: {},
    contentType: 'text/plain',
    // With the address and the braces of its headers.
    body: 'x'.repeat(length - 3),
    ...(answer !== undefined && { answer: { headers: {}, contentType: 'text/plain', body: answer } }),
  })
  const most = 32 * 1024 ** 2

  it('is kept up to 32 MiB, the oldest make room', () => {
    const kept = createRawExchanges()
    const present = (): number[] => [1, 2, 3, 4].filter((id) => kept.read(id) !== undefined)
    kept.keep(1, raw(3))
    kept.keep(2, raw(most - 3))
    expect(present()).toEqual([1, 2])
    // The same again counts once.
    kept.keep(2, raw(most - 3))
    expect(present()).toEqual([1, 2])
    kept.keep(3, raw(3))
    expect(present()).toEqual([2, 3])
    kept.drop(2)
    kept.drop(2)
    kept.keep(4, raw(most - 8, 'abc'))
    expect(present()).toEqual([3, 4])
    kept.keep(4, raw(most - 8, 'abcd'))
    expect(present()).toEqual([4])
    kept.clear()
    expect(present()).toEqual([])
    kept.keep(1, raw(most))
    expect(present()).toEqual([1])
    kept.keep(2, raw(3))
    expect(present()).toEqual([2])
    kept.clear()
    kept.keep(1, raw(most - 2))
    kept.keep(2, raw(3))
    expect(present()).toEqual([2])
  })

  it('has 64 KiB of a body', () => {
    const [whole, longer] = ['x'.repeat(65_536), 'y'.repeat(65_537)]
    expect([clipped(whole) === whole, clipped(longer) === 'y'.repeat(65_536)]).toEqual([true, true])
    // One that is short stays as it is, even where it is no text that UTF-8 has.
    for (const odd of ['\ud800', '\ud800'.padEnd(65_536, 'x')]) expect(clipped(odd)).toBe(odd)
  })

  it('has the query, and what was answered once something was', () => {
    const kept = createRawExchanges()
    kept.keep(1, { ...raw(3), url: '/a?b=c?d' })
    expect(kept.read(1)).toEqual({ request: { query: { b: 'c?d' }, headers: {}, body: {} }, answer: undefined })
    const answer = { headers: { a: 'b' }, contentType: 'application/json', body: '{"c":1}' }
    kept.keep(1, { ...raw(3), answer })
    expect(kept.read(1)?.answer).toEqual({ headers: { a: 'b' }, body: { c: 1 } })
    expect(kept.read(2)).toBeUndefined()
  })
})

describe('the login that a request belongs to', () => {
  const traces = ({
    query = '',
    session,
    fields = {},
    bearer,
  }: Partial<Record<'query' | 'session' | 'bearer', string>> & Pick<Partial<Traces>, 'fields'>): Traces => ({
    query: new URLSearchParams(query),
    cookies: new Map(session === undefined ? [] : [['sso.sid', session]]),
    fields,
    bearer,
  })

  it('is told by each thing that an answer of it handed out', () => {
    const flows = createFlows()
    const flow = flows.of(traces({ query: 'code_challenge=one' }))
    expect(flow).toEqual({ number: 1, identity: undefined })
    expect(
      flows.learn(flow, { 'set-cookie': ['ak=1', 'sso.sid=s1; Path=/'], location: 'https://x/?state=a?b&code=c1' }, {}),
    ).toBe(flow)
    flows.learn(flow, { 'set-cookie': 'sso.sid=s2' }, { access_token: 'a1', refresh_token: 'r1' })
    flows.learn(flow, { location: ['/?code=listed'], 'set-cookie': 'other=s3' }, { access_token: '', refresh_token: 7 })
    const asked = [
      { query: 'code_challenge=one' },
      { session: 's1' },
      { session: 's2' },
      { fields: { code: 'c1' } },
      { fields: { code: ['c1'] } },
      { fields: { refresh_token: 'r1' } },
      { bearer: 'a1' },
    ]
    for (const each of asked) expect([each, flows.of(traces(each))]).toEqual([each, flow])
    const none = [
      {},
      { session: 'a1' },
      { session: 's3' },
      { bearer: '' },
      { bearer: 'r1' },
      { fields: { code: 'listed' } },
      { fields: { code: 's1', refresh_token: 7 } },
    ]
    for (const each of none) expect([each, flows.of(traces(each))]).toEqual([each, undefined])
  })

  it('begins with a challenge or with tokens alone, and is nobody’s until an e-mail is named', () => {
    const flows = createFlows()
    const first = flows.of(traces({ query: 'code_challenge=one&login_hint=ann%40example.com' }))
    expect(first).toEqual({ number: 1, identity: 'ann@example.com' })
    flows.learn(first, { 'set-cookie': 'sso.sid=s1' }, {})
    expect(flows.of(traces({ session: 's1', fields: { identity: '' } }))?.identity).toBe('ann@example.com')
    expect(flows.of(traces({ session: 's1', query: 'login_hint=cat', fields: { identity: 'bob' } }))?.identity).toBe(
      'bob',
    )
    // The challenge is of this login, the cookie of the last.
    expect(flows.of(traces({ session: 's1', query: 'code_challenge=two' }))).toEqual({ number: 2, identity: undefined })
    expect(flows.learn(undefined, { location: '/?code=c' }, { refresh_token: 'r' })).toBeUndefined()
    expect(flows.learn(undefined, {}, { access_token: 'a' })?.number).toBe(3)
    flows.clear()
    expect(flows.of(traces({ session: 's1' }))).toBeUndefined()
  })
})

describe('the journal', () => {
  const open = (headers: Readonly<Record<string, string>> = {}, url = '/?code_challenge=x') => {
    const journal = createJournal(createClock())
    const told: unknown[] = []
    const leave = journal.subscribe((exchange) => told.push(exchange && [exchange.id, exchange.version]))
    const enter = () => {
      const request = incoming(url, headers)
      const response = new ServerResponse(request)
      return { response, request, recording: journal.open(request, response, 'home') }
    }
    return { journal, told, leave, enter }
  }

  it('tells of each change under a number of its own, from 1', () => {
    const { journal, told, leave, enter } = open()
    const before = performance.now()
    const { response, request, recording } = enter()
    expect(journal.recordingOf(request)).toBe(recording)
    recording.asked('token', '', {})
    response.statusCode = 418
    response.emit('close')
    expect(told).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
    ])
    // Nothing was sent.
    expect(journal.requests[0]?.status).toBe(0)
    expect(journal.exchanges[0]?.duration).toBeLessThanOrEqual(performance.now() - before)
    enter()
    journal.clear()
    leave()
    enter()
    expect(told.slice(3)).toEqual([[2, 4], undefined])
    expect(journal.exchanges.map(({ id }) => id)).toEqual([3])
    expect(() => journal.recordingOf(incoming('/'))).toThrow('never opened')
  })

  it('takes an answer of 400 and more for a refusal, and one that says so', () => {
    const { journal, enter } = open()
    const { recording } = enter()
    const isRefusal = (status: number, refused?: true): boolean | undefined => {
      recording.decided({ status, headers: {}, body: '', ...(refused && { refused }) })
      return journal.exchanges[0]?.refused
    }
    expect([isRefusal(399), isRefusal(400), isRefusal(200, true)]).toEqual([false, true, true])
  })

  it('knows a login by a bearer token alone that is one', () => {
    const flowOf = (authorization: string): number | undefined => {
      const { journal, enter } = open({ authorization }, '/')
      journal.adopt('ann@example.com', { access_token: 'a b' })
      const { recording } = enter()
      recording.asked('owner-api', '', {})
      return journal.exchanges[0]?.flow
    }
    expect(['Bearer a b', 'bearer a b', 'XBearer a b', 'Bearer a'].map(flowOf)).toEqual([1, 1, undefined, undefined])
  })

  it('counts answers to what is kept behind the masks', () => {
    const { journal, enter } = open()
    const answer = { status: 200, headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(65_536) }
    for (let count = 0; count < 520; count += 1) enter().recording.answered(answer)
    expect([journal.secretsOf(1), journal.secretsOf(520)]).toMatchObject([undefined, { answer: {} }])
  })

  it('has the last ten thousand exchanges, and nothing of those before', () => {
    const { journal, enter } = open()
    enter().recording.asked('token', '', {})
    expect(journal.secretsOf(1)).toBeDefined()
    for (let count = 1; count < 10_000; count += 1) enter()
    expect([journal.exchanges.length, journal.exchanges[0]?.id]).toEqual([10_000, 1])
    enter()
    expect([journal.exchanges.length, journal.requests.length, journal.exchanges[0]?.id]).toEqual([10_000, 10_000, 2])
    expect(journal.secretsOf(1)).toBeUndefined()
  })

  it('numbers connections from 1', () => {
    const read = createRequestReader()
    const one = incoming('/a?b=c')
    expect([read(one, 5), read(one, 6), read(incoming('/'), 7)]).toMatchObject([
      { connection: 1, at: 5, path: '/a', query: { b: '[masked]' }, host: '', method: 'GET' },
      { connection: 1, at: 6 },
      { connection: 2, path: '/' },
    ])
  })

  it('knows the traces of fifty thousand steps, and forgets the one that was seen the longest ago', () => {
    const flows = createFlows()
    const traces = (code: string): Traces => ({ query: new URLSearchParams(), cookies: new Map(), fields: { code } })
    const learn = (code: string): unknown =>
      flows.learn({ number: Number(code), identity: undefined }, { location: `/?code=${code}` }, {})
    for (let code = 1; code <= 50_000; code += 1) learn(String(code))
    expect(flows.of(traces('1'))?.number).toBe(1)
    learn('1')
    learn('50001')
    expect(['1', '2', '3', '50001'].map((code) => flows.of(traces(code))?.number)).toEqual([1, undefined, 3, 50_001])
  })
})
