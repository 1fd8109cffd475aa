/** An exchange with the owner API, event by event, and what surrounds it. */
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { Dispatcher } from 'undici'
import { refusal, type RefusalCode } from '../../src/answers/refusal.ts'
import { ownerApiProxy } from '../../src/index.ts'
import { type Exchange, runExchange } from '../../src/proxy/exchange.ts'
import { closeWithConnection } from '../../src/proxy/queued-response.ts'
import { requestBody } from '../../src/proxy/request-body.ts'
import { upstreamHeaders } from '../../src/proxy/request-headers.ts'
import { parsedBody } from '../../src/proxy/parsed-body.ts'
import { shownError } from '../../src/calls/axios-outcome.ts'
import { ExchangeError, failureAnswer } from '../../src/proxy/upstream-failure.ts'
import { withoutSwitching } from '../../src/calls/switching-answer.ts'
import { silenceLimit } from '../../src/proxy/silence.ts'
import { token } from '../tokens.ts'
import { valid } from './valid-options.ts'

describe('an exchange, event by event and millisecond by millisecond', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] })
  })
  afterEach(() => {
    jest.useRealTimers()
  })
  const pass = (milliseconds: number): Promise<void> => jest.advanceTimersByTimeAsync(milliseconds)

  /** An exchange under way, on a dispatcher that does nothing by itself; what becomes of it is read with `news()`. */
  function underWay(more: Partial<Exchange> = {}) {
    const [log, attempts] = [[] as string[], [] as [Dispatcher.DispatchOptions, Dispatcher.DispatchHandler][]]
    const dispatch: Dispatcher['dispatch'] = (options, handler) => attempts.push([options, handler]) > 0
    const controller = {
      abort: ({ message }: Error) => log.push(`abort: ${message}`),
      pause: () => log.push('pause'),
      resume: () => log.push('resume'),
    } as unknown as Dispatcher.DispatchController
    const socket = new PassThrough()
    const response = new ServerResponse(new IncomingMessage(new Socket()))
    response.sendDate = false
    response.assignSocket(socket as unknown as Socket)
    runExchange({ dispatch } as Dispatcher, {
      method: 'GET',
      path: '/api/1/vehicles',
      headers: ['accept', '*/*'],
      content: undefined,
      token,
      response,
      headersTimeout: 1000,
      bodyTimeout: 2000,
      maxDuration: 10_000,
      answerHeaders: (status) => (status === 200 ? {} : { 'content-length': 0 }),
      refusesToken: () => false,
      tokenAfter: () => Promise.resolve(undefined),
      answerTo: () => refusal('ERR_OWNER_API_INTERNAL'),
      report: (answer, error) => {
        log.push(`${answer.problem.code}: ${error instanceof Error ? error.message : String(error)}`)
        return answer
      },
      ...more,
    })
    const handler = (n = 0): Required<Dispatcher.DispatchHandler> => attempts[n]![1] as never
    const news = (): string[] => {
      const [head] = /^HTTP.*/u.exec(String(socket.read() ?? '')) ?? []
      return [...new Set([head, ...log.splice(0)])].filter((line) => line !== undefined)
    }
    const start = (status: number): void => handler().onResponseStart(controller, status, {}, '')
    return { attempts, controller, handler, news, response, socket, start }
  }
  const late = [
    'HTTP/1.1 504 Gateway Timeout',
    'ERR_OWNER_API_TIMEOUT: ERR_OWNER_API_TIMEOUT',
    'abort: the exchange is over',
  ]

  it('a silence is counted from what was heard last, and as long as was said there', async () => {
    const onSilence = jest.fn()
    const limit = silenceLimit(onSilence)
    const over = async (after: number): Promise<void> => {
      await pass(after - 1)
      expect(onSilence).not.toHaveBeenCalled()
      await pass(1)
      expect(onSilence).toHaveBeenCalledTimes(1)
      onSilence.mockClear()
    }
    limit.heard(1000)
    await pass(600)
    limit.heard(1000)
    await over(1000)
    limit.lift()
    limit.heard(1000)
    limit.heard(300)
    await over(300)
    limit.heard(300)
    limit.lift()
    await pass(1000)
    limit.heard(400)
    await over(400)
    limit.heard(300)
    limit.end()
    limit.heard(300)
    await pass(1000)
    expect([onSilence.mock.calls, jest.getTimerCount()]).toEqual([[], 0])
  })

  it('the head has its time from the last byte of the request, and each piece from the one before', async () => {
    const content = new PassThrough()
    const { attempts, handler, controller, news, start, response } = underWay({ content, method: 'PUT' })
    expect(attempts[0]![0]).toEqual({
      method: 'PUT',
      path: '/api/1/vehicles',
      headers: ['accept', '*/*', 'authorization', `Bearer ${token}`],
      body: content,
    })
    handler().onRequestStart(controller, {})
    await pass(3000)
    content.resume().end()
    await pass(999)
    expect(news()).toEqual([])
    start(200)
    await pass(1999)
    handler().onResponseData(controller, Buffer.from('piece'))
    expect(news()).toEqual(['HTTP/1.1 200 OK'])
    await pass(1999)
    expect([news(), response.destroyed]).toEqual([[], false])
    await pass(1)
    expect([news(), response.destroyed]).toEqual([late.slice(1), true])
  })

  it('the request goes without a body where there is none, and its head may take so long and no longer', async () => {
    const { attempts, handler, controller, news } = underWay()
    expect(attempts[0]![0].body).toBe(null)
    handler().onRequestStart(controller, {})
    await pass(999)
    expect(news()).toEqual([])
    await pass(1)
    expect(news()).toEqual(late)
    await pass(20_000)
    handler().onResponseError(controller, new Error('aborted'))
    expect([news(), jest.getTimerCount()]).toEqual([[], 0])
  })

  it('all of it has its time, however much comes', async () => {
    const { handler, controller, news, start } = underWay()
    handler().onRequestStart(controller, {})
    start(200)
    for (let n = 0; n < 9; n += 1) {
      await pass(1000)
      handler().onResponseData(controller, Buffer.from('piece'))
    }
    await pass(999)
    expect(news()).toEqual(['HTTP/1.1 200 OK'])
    await pass(1)
    expect(news()).toEqual(late.slice(1))
  })

  it('ten interim answers may come, which give no time, and not eleven', async () => {
    const { handler, controller, news, start } = underWay()
    handler().onRequestStart(controller, {})
    await pass(500)
    for (let n = 0; n < 10; n += 1) start(n === 0 ? 199 : 103)
    await pass(499)
    expect(news()).toEqual([])
    start(103)
    const unreachable = 'ERR_OWNER_API_UNREACHABLE: ERR_OWNER_API_UNREACHABLE'
    expect(news()).toEqual(['HTTP/1.1 502 Bad Gateway', unreachable, 'abort: the exchange is over'])
    const other = underWay()
    other.handler().onRequestStart(other.controller, {})
    other.start(103)
    await pass(1000)
    expect(other.news()).toEqual(late)
  })

  it('a caller has the time of a piece to read it, and leaves no listener behind', async () => {
    const { handler, controller, news, response, socket, start } = underWay()
    handler().onRequestStart(controller, {})
    start(200)
    const much = Buffer.alloc(response.writableHighWaterMark + 1)
    handler().onResponseData(controller, Buffer.from('little'))
    await pass(0)
    const listeners = () => ['drain', 'close'].map((name) => response.listenerCount(name))
    const [before] = [listeners(), news()]
    handler().onResponseData(controller, much)
    expect([news(), listeners()]).toEqual([['pause'], before.map((count) => count + 1)])
    await pass(1999)
    response.emit('drain')
    expect([news(), listeners()]).toEqual([['resume'], before])
    await pass(1999)
    handler().onResponseData(controller, much)
    await pass(1999)
    expect(news()).toEqual(['pause'])
    await pass(1)
    expect(news()).toEqual([...late.slice(1), 'resume'])
    socket.destroy()
  })

  it.each([204, 304, 205])('a broken end of %d is an error only where a body could have come', (status) => {
    const { handler, controller, news, response, start } = underWay()
    handler().onRequestStart(controller, {})
    start(status)
    handler().onResponseError(controller, new Error('no body'))
    const [first = '', ...rest] = news()
    expect([Number(first.split(' ')[1]), ...rest]).toEqual(
      status === 205 ? [502, 'ERR_OWNER_API_UNREACHABLE: no body', 'abort: the exchange is over'] : [status],
    )
    response.emit('close')
    expect(jest.getTimerCount()).toBe(0)
  })

  it('a head that can’t be written is a failure', () => {
    const { handler, controller, news, start } = underWay({
      answerHeaders: () => {
        throw new Error('a listener')
      },
    })
    handler().onRequestStart(controller, {})
    start(200)
    handler().onResponseData(controller, Buffer.from('piece'))
    const unreachable = 'ERR_OWNER_API_UNREACHABLE: a listener'
    expect(news()).toEqual(['HTTP/1.1 502 Bad Gateway', unreachable, 'abort: the exchange is over'])
  })

  it('a caller that goes ends it: what is under way, and what has not begun', async () => {
    const { handler, controller, news, response } = underWay()
    response.emit('close')
    handler().onRequestStart(controller, {})
    await pass(20_000)
    expect([news(), jest.getTimerCount()]).toEqual([['abort: the exchange is over'], 0])
    const other = underWay()
    other.handler().onRequestStart(other.controller, {})
    other.response.emit('close')
    await pass(20_000)
    expect([other.news(), jest.getTimerCount()]).toEqual([['abort: the exchange is over'], 0])
  })

  describe('a 401', () => {
    /** With what `settle` is called with for the next token, however late. */
    function refused() {
      let settle: (next: string | undefined) => void = () => undefined
      const tokenAfter = jest.fn(() => new Promise<string | undefined>((resolve) => (settle = resolve)))
      const exchange = underWay({ tokenAfter })
      const { handler, controller, start } = exchange
      handler().onRequestStart(controller, {})
      start(401)
      const settled = async (next?: string): Promise<void> => {
        settle(next)
        await pass(0)
      }
      return { ...exchange, settled, tokenAfter }
    }

    it('waits for the next token as long as that takes; the request goes out once more, and its 401 is the answer', async () => {
      const { attempts, controller, handler, news, settled, tokenAfter } = refused()
      await pass(9000)
      expect([news(), tokenAfter.mock.calls]).toEqual([['pause'], [[token]]])
      await settled('next token')
      expect([news(), attempts[1]![0].headers]).toEqual([
        ['resume'],
        ['accept', '*/*', 'authorization', 'Bearer next token'],
      ])
      await pass(499)
      expect(news()).toEqual([])
      await pass(1)
      expect(news()).toEqual(['abort: the exchange is over'])
      handler().onResponseError(controller, new Error('aborted'))
      handler(1).onRequestStart(controller, {})
      handler(1).onResponseStart(controller, 401, {}, '')
      handler(1).onResponseEnd(controller, {})
      expect(news()).toEqual(['HTTP/1.1 401 Unauthorized'])
    })

    it('is read to its end, and to 65,536 bytes', async () => {
      const { controller, handler, news, settled } = refused()
      await settled('next token')
      news()
      handler().onResponseData(controller, Buffer.alloc(65_536))
      expect(news()).toEqual([])
      handler().onResponseData(controller, Buffer.alloc(1))
      expect(news()).toEqual(['abort: the exchange is over'])
      handler().onResponseEnd(controller, {})
      await pass(500)
      expect(news()).toEqual([])
    })

    it('that has ended needs no limit', async () => {
      const { controller, handler, news, settled } = refused()
      handler().onResponseEnd(controller, {})
      await settled('next token')
      await pass(500)
      expect(news()).toEqual(['pause', 'resume'])
    })

    it('is the answer where there is no next token, and has its time again', async () => {
      const { controller, handler, news, settled } = refused()
      await pass(5000)
      await settled()
      await pass(1999)
      expect(news()).toEqual(['HTTP/1.1 401 Unauthorized', 'pause', 'resume'])
      await pass(1)
      expect(news()).toEqual(late.slice(1))
      const other = refused()
      other.handler().onResponseEnd(controller, {})
      await other.settled()
      expect([other.news(), other.response.writableEnded]).toEqual([
        ['HTTP/1.1 401 Unauthorized', 'pause', 'resume'],
        true,
      ])
      handler().onResponseEnd(controller, {})
    })

    it('that was lost meanwhile is a failure, and one whose caller has gone is nothing', async () => {
      const { controller, handler, news, settled } = refused()
      handler().onResponseError(controller, new Error('reset'))
      await settled()
      expect(news()).toEqual([
        'HTTP/1.1 502 Bad Gateway',
        'pause',
        'ERR_OWNER_API_UNREACHABLE: reset',
        'abort: the exchange is over',
        'resume',
      ])
      const other = refused()
      other.response.emit('close')
      await other.settled('next token')
      expect([other.news(), other.attempts.length]).toEqual([['pause', 'abort: the exchange is over', 'resume'], 1])
    })
  })
})

describe('what surrounds an exchange', () => {
  it.each<[RefusalCode, object]>([
    ['ERR_OWNER_API_BUSY', { 'retry-after': '1' }],
    ['ERR_OWNER_API_CLOSING', { 'retry-after': '1' }],
    ['ERR_OWNER_API_TIMEOUT', {}],
    ['ERR_OWNER_API_METHOD_NOT_ALLOWED', { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' }],
    ['ERR_OWNER_API_MALFORMED_REQUEST', { connection: 'close' }],
    ['ERR_OWNER_API_MALFORMED_PATH', {}],
    ['ERR_OWNER_API_UPGRADE_REFUSED', { connection: 'close' }],
  ])('is told with %s what to do next: %j', (code, told) => {
    const names = ['retry-after', 'allow', 'connection']
    const headers = Object.entries(refusal(code).headers).filter(([name]) => names.includes(name))
    expect(Object.fromEntries(headers)).toEqual(told)
  })

  it.each([
    ['UND_ERR_CONNECT_TIMEOUT', 'ERR_OWNER_API_TIMEOUT'],
    ['UND_ERR_HEADERS_TIMEOUT', 'ERR_OWNER_API_TIMEOUT'],
    ['UND_ERR_BODY_TIMEOUT', 'ERR_OWNER_API_TIMEOUT'],
    ['ETIMEDOUT', 'ERR_OWNER_API_TIMEOUT'],
    ['UND_ERR_CLOSED', 'ERR_OWNER_API_CLOSING'],
    ['UND_ERR_DESTROYED', 'ERR_OWNER_API_CLOSING'],
    ['ECONNRESET', 'ERR_OWNER_API_UNREACHABLE'],
    [undefined, 'ERR_OWNER_API_UNREACHABLE'],
  ])('a failure with the code %s is answered with %s', (code, answered) => {
    expect(failureAnswer(Object.assign(new Error('failed'), { code })).problem.code).toBe(answered)
    const own = new ExchangeError('ERR_OWNER_API_TOKEN_ECHOED')
    expect([own.name, own.message, failureAnswer(own)]).toEqual([
      'ExchangeError',
      'ERR_OWNER_API_TOKEN_ECHOED',
      refusal('ERR_OWNER_API_TOKEN_ECHOED'),
    ])
  })

  it.each<[unknown, string | undefined, string, string]>([
    [Buffer.from('raw'), undefined, 'application/octet-stream', 'raw'],
    [Buffer.from('raw'), 'a/b; c=d', 'a/b; c=d', 'raw'],
    ['text', undefined, 'text/plain; charset=utf-8', 'text'],
    ['text', 'A/B; charset=latin1', 'a/b; charset=utf-8', 'text'],
    [{ a: 1 }, 'application/vnd.x+json', 'application/vnd.x+json', '{"a":1}'],
    [null, 'application/json', 'application/json', 'null'],
    [{ a: 1, b: null }, 'application/x-www-form-urlencoded', 'application/x-www-form-urlencoded', 'a=1&b=null'],
    [null, 'application/x-www-form-urlencoded', 'nothing', ''],
    [7, 'application/x-www-form-urlencoded', 'nothing', ''],
    [{ a: 1 }, 'multipart/form-data', 'nothing', ''],
    [undefined, 'application/json', 'nothing', ''],
  ])('what was parsed to %j from %s is sent as %s: %s', (body, type, contentType, content) => {
    const sent = parsedBody({ headers: { 'content-type': type }, body } as unknown as IncomingMessage)
    expect([sent?.contentType ?? 'nothing', String(sent?.content ?? '')]).toEqual([contentType, content])
  })

  it('an error that causes itself is shown without the token, wherever that is', () => {
    const [error, other] = [new Error(`sent ${token} twice: ${token}`), new Error('plain')]
    Object.assign(error, { cause: other, errors: [error, other], socket: {}, count: 1 })
    other.cause = error
    expect(shownError(error, { config: {}, token })).toBe(error)
    expect(error).toMatchObject({ message: 'sent [redacted] twice: [redacted]', count: 1 })
    expect([Object.hasOwn(error, 'socket'), other.message, other.cause]).toEqual([false, 'plain', error])
  })

  it('a request that switches protocols unasked fails, unless somebody waits for that', () => {
    const requests = [1, 2].map(() => Object.assign(new PassThrough(), { at: '' }))
    const errors: unknown[] = []
    const addRequest = (request: { at: string }, ...more: string[]) => (request.at = more.join('/'))
    const agent = { addRequest }
    const watching = withoutSwitching(agent) as typeof agent
    expect([withoutSwitching(agent), withoutSwitching('x'), withoutSwitching(null)]).toEqual([watching, 'x', null])
    for (const other of [{ options: {} }, { addRequest, options: { proxyEnv: {} } }]) {
      expect(withoutSwitching(other)).toBe(other)
    }
    for (const [n, request] of requests.entries()) {
      watching.addRequest(request, 'host', '443')
      request.on('error', (error) => errors.push(error))
      if (n === 1) request.on('upgrade', () => {})
    }
    const sockets = requests.map((request) => {
      const socket = new PassThrough()
      request.emit('upgrade', {}, socket)
      return socket
    })
    expect(requests.map(({ at }) => at)).toEqual(['host/443', 'host/443'])
    expect([...sockets, ...requests].map(({ destroyed }) => destroyed)).toEqual([true, false, true, false])
    expect(errors).toEqual([new Error('The owner API switched protocols unasked (101).')])
    expect(errors[0]).toMatchObject({ code: 'ERR_BAD_RESPONSE' })
  })

  it('sends the caller’s headers that are on the list, and those of the body', () => {
    const headers = { accept: 'a/b', cookie: 'c', 'content-type': 'a/b', 'content-language': 'en', range: 'bytes=0-' }
    const names = ['accept', 'content-type', 'content-language', 'range', 'toString']
    const sent = (body: object, connection?: string) =>
      upstreamHeaders({ headers: { ...headers, connection } } as unknown as IncomingMessage, names, 'agent', body)
    const always = ['user-agent', 'agent', 'accept', 'a/b']
    const ofBody = ['content-type', 'a/b', 'content-language', 'en']
    expect([sent({}), sent({ length: 0 }), sent({ contentType: 'c/d' }), sent({}, 'close, Range')]).toEqual([
      [...always, ...ofBody, 'range', 'bytes=0-'],
      [...always, ...ofBody, 'range', 'bytes=0-', 'content-length', '0'],
      [...always, 'range', 'bytes=0-', 'content-type', 'c/d'],
      [...always, ...ofBody],
    ])
  })

  it('a stream or a socket that breaks off ends nothing else', async () => {
    const request = Object.assign(new PassThrough(), { headers: { 'content-length': '9' } })
    const { content } = (await requestBody(request as unknown as IncomingMessage, 5)) as { content: PassThrough }
    const proxy = ownerApiProxy(await valid())
    const refusedSockets = ['CONNECT', 'GET'].map((method) => {
      const socket = new PassThrough()
      proxy.refuse({ method } as IncomingMessage, socket)
      return socket
    })
    for (const each of [content, ...refusedSockets]) {
      expect(() => each.emit('error', new Error('reset'))).not.toThrow()
    }
    expect(refusedSockets.map((socket) => String(socket.read()).split('\r\n', 1)[0])).toEqual([
      'HTTP/1.1 405 Method Not Allowed',
      'HTTP/1.1 501 Not Implemented',
    ])
    await proxy.close()
  })

  it('responses that wait their turn close with their connection, each once', async () => {
    const socket = new PassThrough()
    const closed: number[] = []
    const [first, second] = [0, 1].map((n) => {
      const response = new ServerResponse(new IncomingMessage(new Socket()))
      closeWithConnection(
        { socket } as unknown as IncomingMessage,
        response.on('close', () => closed.push(n)),
      )
      return response
    })
    const [served, gone] = [0, 1].map(() => new ServerResponse(new IncomingMessage(new Socket())))
    served?.assignSocket(new PassThrough() as unknown as Socket)
    gone?.destroy()
    const before = [served?.listenerCount('close'), gone?.listenerCount('close')]
    for (const each of [served, gone]) closeWithConnection({ socket } as unknown as IncomingMessage, each!)
    expect([served?.listenerCount('close'), gone?.listenerCount('close')]).toEqual(before)
    expect(socket.listenerCount('close')).toBe(1)
    first?.emit('close')
    const over = new Promise((resolve) => second?.once('close', resolve))
    socket.destroy()
    await over
    await new Promise(setImmediate)
    expect([closed, first?.destroyed, second?.destroyed]).toEqual([[0, 1], false, true])
  })
})
