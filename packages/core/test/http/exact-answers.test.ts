/** Each limit at it and one beyond it: what an answer may cost, and what one that does not come means. */
import { EventEmitter } from 'node:events'
import { Agent } from 'node:http'
import { type Duplex, PassThrough } from 'node:stream'
import { describe, expect, it, jest } from '@jest/globals'
import { boundAnswer, boundHttp2Answer, mostBodyBytes, mostHeaderBytes } from '../../src/http/answer-bounds.ts'
import { handOutConnectedSockets } from '../../src/http/connected-sockets.ts'
import { httpFailure } from '../../src/http/http-failure.ts'

describe('a request without an answer', () => {
  const url = new URL('https://auth.example.com/oauth2/v3/token?secret=1')
  const fate = { step: 'refresh', url, isProxied: false, requestSent: true, timedOut: false } as const
  const failure = (code: string | undefined, more: object = {}) =>
    httpFailure({ kind: 'no answer', code, syscall: 'read' }, { ...fate, ...more })

  it.each([
    ['ANSWER_TOO_LARGE', 'larger than 256 KiB'],
    ['ANSWER_TOO_LONG_ON_THE_WIRE', '1 MiB'],
    ['TOO_MANY_INTERIM_ANSWERS', 'ten interim'],
    ['HPE_HEADER_OVERFLOW', '16 KiB'],
    ['HPE_INVALID_VERSION', 'not valid HTTP'],
    ['Z_DATA_ERROR', 'decompressed'],
    ['ERR__BROTLI_X', 'decompressed'],
    ['ERR_BROTLI_X', 'decompressed'],
    ['ERR__ERROR_FORMAT', 'decompressed'],
    ['ERR_FORMAT_X', 'decompressed'],
  ])('with the code %s is one that can’t be used: %s', (code, problem) => {
    expect(failure(code)).toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      step: 'refresh',
      requestSent: true,
      message: expect.stringContaining(problem),
      cause: { code, message: `read ${code}` },
    })
  })

  it.each([undefined, 'ECONNRESET', 'HPE_INVALID_EOF_STATE', 'XHPE_', 'AZ_DATA_ERROR', 'XERR_FORMAT', 'ERR_OTHER'])(
    'with the code %s is a connection that broke',
    (code) => {
      expect(failure(code)).toMatchObject({ code: 'ERR_SSO_UNREACHABLE', step: 'refresh', requestSent: true })
    },
  )

  it('was not sent, or took too long, whatever its code', () => {
    const where = { step: 'refresh', requestSent: false }
    expect(failure('ANSWER_TOO_LARGE', { requestSent: false })).toMatchObject({
      ...where,
      code: 'ERR_SSO_UNREACHABLE',
      message: expect.stringContaining('Nothing was sent'),
      cause: { code: 'ANSWER_TOO_LARGE' },
    })
    expect(failure('ANSWER_TOO_LARGE', { timedOut: true })).toMatchObject({
      code: 'ERR_SSO_TIMEOUT',
      step: 'refresh',
      requestSent: true,
    })
    expect(failure(undefined, { timedOut: true, requestSent: false })).toMatchObject({
      ...where,
      code: 'ERR_SSO_TIMEOUT',
    })
  })
})

describe('what an answer may cost', () => {
  it('is 256 KiB of text and 16 KiB of headers', () => {
    expect([mostBodyBytes, mostHeaderBytes]).toEqual([262_144, 16_384])
  })

  it('is a mebibyte on the wire, and ten interim answers', () => {
    const bounded = () => {
      const socket = new EventEmitter()
      const request = Object.assign(new EventEmitter(), { socket })
      const given: string[] = []
      boundAnswer(request as never, (code) => given.push(code))
      const listening = (): number[] => [socket.listenerCount('data'), request.listenerCount('information')]
      return { socket, request, given, listening }
    }
    const long = bounded()
    expect(long.listening()).toEqual([1, 1])
    long.socket.emit('data', Buffer.alloc(1024 * 1024))
    expect(long.given).toEqual([])
    long.socket.emit('data', Buffer.alloc(1))
    expect([long.given, long.listening()]).toEqual([['ANSWER_TOO_LONG_ON_THE_WIRE'], [0, 0]])
    const interim = bounded()
    for (let count = 0; count < 10; count += 1) interim.request.emit('information')
    expect(interim.given).toEqual([])
    interim.request.emit('information')
    expect([interim.given, interim.listening()]).toEqual([['TOO_MANY_INTERIM_ANSWERS'], [0, 0]])
    const whole = bounded()
    whole.request.emit('close')
    expect([whole.given, whole.listening()[0]]).toEqual([[], 0])
  })

  it('is the same over HTTP/2, where it is looked at twenty times a second', () => {
    const begun = jest.spyOn(globalThis, 'setInterval').mockImplementation(() => 7 as never)
    const ended = jest.spyOn(globalThis, 'clearInterval').mockImplementation(() => undefined)
    try {
      const bounded = () => {
        begun.mockClear()
        ended.mockClear()
        const [stream, socket] = [new EventEmitter(), { bytesRead: 5 }]
        const given: string[] = []
        boundHttp2Answer(stream as never, { socket } as never, (code) => given.push(code))
        const [look, every] = begun.mock.calls[0] ?? []
        expect(every).toBe(50)
        return { stream, socket, given, look: look as () => void }
      }
      const long = bounded()
      long.socket.bytesRead += 1024 * 1024
      long.look()
      expect([long.given, ended.mock.calls]).toEqual([[], []])
      long.socket.bytesRead += 1
      long.look()
      expect([long.given, ended.mock.calls]).toEqual([['ANSWER_TOO_LONG_ON_THE_WIRE'], [[7]]])
      expect(long.stream.listenerCount('headers')).toBe(0)
      const interim = bounded()
      for (let count = 0; count < 10; count += 1) interim.stream.emit('headers')
      expect(interim.given).toEqual([])
      interim.stream.emit('headers')
      expect(interim.given).toEqual(['TOO_MANY_INTERIM_ANSWERS'])
      const most = bounded()
      most.stream.emit('response', { a: 'x'.repeat(10_000), bc: 'x'.repeat(6381) })
      expect(most.given).toEqual([])
      most.stream.emit('close')
      expect(ended.mock.calls).toEqual([[7]])
      const more = bounded()
      more.stream.emit('response', { a: 'x'.repeat(10_000), bc: 'x'.repeat(6382) })
      expect(more.given).toEqual(['HPE_HEADER_OVERFLOW'])
    } finally {
      begun.mockRestore()
      ended.mockRestore()
    }
  })
})

it('a socket is handed out once it is connected, and with nobody listening to it any more', () => {
  const agent = new Agent()
  let next: Duplex | Error
  agent.createConnection = (_options, callback) => {
    if (!(next instanceof Error)) return next
    callback?.(next, undefined as never)
    return undefined
  }
  const connecting = handOutConnectedSockets(agent)
  const handedOut = (given: Duplex | Error): unknown[] => {
    next = given
    const outcomes: unknown[] = []
    agent.createConnection({}, (error, socket) => outcomes.push(error, socket))
    return outcomes
  }
  const ready = new PassThrough()
  const failure = new Error('x')
  expect([handedOut(ready), handedOut(failure), connecting.size]).toEqual([[null, ready], [failure, undefined], 0])
  for (const [facts, event, tooEarly] of [
    [{ connecting: true }, 'connect', 'secureConnect'],
    [{ connecting: true, secureConnecting: true }, 'secureConnect', 'connect'],
  ] as const) {
    for (const error of [null, failure]) {
      const socket: PassThrough = Object.assign(new PassThrough(), facts)
      const before = socket.listenerCount('error')
      const outcomes = handedOut(socket)
      socket.emit(tooEarly)
      expect([outcomes, connecting.has(socket)]).toEqual([[], true])
      if (error) socket.emit('error', error)
      else socket.emit(event)
      expect([outcomes, connecting.size]).toEqual([[error, socket], 0])
      expect([socket.listenerCount('error'), socket.listenerCount(event)]).toEqual([before, 0])
    }
  }
})
