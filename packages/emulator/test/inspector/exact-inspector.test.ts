/** Each limit at it and one beyond it: what the inspector is told and shows. */
import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { Request, Response } from 'express'
import { eventStream } from '../../src/inspector/event-stream.ts'
import { harOf } from '../../src/inspector/har.ts'
import { sequenceDiagram } from '../../src/inspector/mermaid.ts'
import { pageFile } from '../../src/inspector/inspector-page.ts'
import { liveState } from '../../src/inspector/live-state.ts'
import type { Exchange, Journal } from '../../src/journal/journal.ts'
import { parseEmulatorOptions } from '../../src/options/parse-options.ts'
import { createInstances } from '../../src/service/instances.ts'
import { createServiceState } from '../../src/service/service-state.ts'
import { awaitPasscode } from '../../src/service/sessions.ts'

describe('the stream of events', () => {
  beforeEach(() => void jest.useFakeTimers())
  afterEach(() => void jest.useRealTimers())

  const exchange = (id: number, version = id): Exchange =>
    ({ id, version, request: { method: 'GET', path: '/', status: 200, at: 1 } }) as unknown as Exchange

  /** What a page gets that has seen a journal until `lastEventId`. */
  function opened(exchanges: readonly Exchange[], lastEventId?: string) {
    const listeners = new Set<(changed: Exchange | undefined) => void>()
    const journal = {
      exchanges,
      subscribe(listener: (changed: Exchange | undefined) => void) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    } as unknown as Journal
    const written: string[] = []
    const heads: unknown[] = []
    const handler = eventStream(journal, () => 'state')
    const open = (id?: string) => {
      const response = Object.assign(new EventEmitter(), {
        writableNeedDrain: false,
        writeHead: (...head: readonly unknown[]) => heads.push(head),
        write: (line: string) => written.push(line),
      })
      handler(
        { headers: { 'last-event-id': id } } as unknown as Request,
        response as unknown as Response,
        () => undefined,
      )
      return response
    }
    const told = (): string[] =>
      written.splice(0).map((line) => {
        const [, event = '', id, data = ''] = /^event: (\w+)\n(?:id: (\S+)\n)?data: (.*)\n\n$/u.exec(line) ?? []
        const ids = event === 'exchange' ? (JSON.parse(data) as { id: number }[]).map(({ id: each }) => each) : []
        return [event, id?.replace(/^[^/]*/u, ''), ids.length > 3 ? ids.length : ids.join(' ')]
          .filter(Boolean)
          .join(' ')
      })
    const change = (changed?: Exchange) => listeners.forEach((listener) => listener(changed))
    return { response: open(lastEventId), open, written, heads, told, change, listeners }
  }

  it('begins anew, tells the state each second, and leaves nothing behind', () => {
    const { response, heads, told, change, listeners } = opened([])
    expect(heads).toEqual([[200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }]])
    expect(told()).toEqual(['reset /0', 'state'])
    expect(jest.getTimerCount()).toBe(1)
    jest.advanceTimersByTime(999)
    expect(told()).toEqual([])
    jest.advanceTimersByTime(1)
    expect(told()).toEqual(['state'])
    change(exchange(1))
    expect([jest.getTimerCount(), listeners.size]).toEqual([2, 1])
    response.emit('close')
    expect([jest.getTimerCount(), listeners.size]).toEqual([0, 0])
  })

  it('tells of exchanges in batches of 250, a tenth of a second apart, the next at once where more wait', () => {
    const { told, change } = opened(Array.from({ length: 501 }, (_, index) => exchange(index + 1)))
    expect(told()).toEqual(['reset /0', 'exchange /250 250', 'state'])
    jest.advanceTimersByTime(0)
    expect(told()).toEqual(['exchange /500 250'])
    jest.advanceTimersByTime(99)
    expect(told()).toEqual([])
    jest.advanceTimersByTime(1)
    expect(told()).toEqual(['exchange /501 501'])
    // What changes again moves to the end, and is told once.
    for (const [id, version] of [
      [1, 502],
      [2, 503],
      [1, 504],
    ] as const)
      change(exchange(id, version))
    jest.advanceTimersByTime(100)
    expect(told()).toEqual(['exchange /504 2 1'])
    change(exchange(3, 505))
    change()
    expect(told()).toEqual(['reset /0'])
    jest.advanceTimersByTime(100)
    expect(told()).toEqual([])
  })

  it('goes on where a page has stopped, in the order of changes, and not where it knows another run', () => {
    const { open, written, told } = opened([exchange(1, 4), exchange(2, 2), exchange(3, 3)])
    const run = /id: (.*)\/0\n/u.exec(written.join(''))?.[1] ?? ''
    expect(told()).toEqual(['reset /0', 'exchange /4 2 3 1', 'state'])
    open(`${run}/2`)
    expect(told()).toEqual(['exchange /4 3 1', 'state'])
    open(`${run}/4`)
    expect(told()).toEqual(['state'])
    open('other/4')
    expect(told()).toEqual(['reset /0', 'exchange /4 2 3 1', 'state'])
  })

  it('waits for a page that does not keep up', () => {
    const { response, told, change } = opened([])
    told()
    response.writableNeedDrain = true
    change(exchange(1))
    jest.advanceTimersByTime(2000)
    expect(told()).toEqual([])
    response.writableNeedDrain = false
    response.emit('drain')
    jest.advanceTimersByTime(100)
    expect(told()).toEqual(['exchange /1 1'])
    const timers = jest.getTimerCount()
    response.emit('drain')
    expect(jest.getTimerCount()).toBe(timers)
  })
})

it('the files of the inspector are those of its page alone, under its policy', () => {
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
  const files = ['index.html', 'inspector.js', 'inspector.css']
  const types = ['text/html; charset=utf-8', 'text/javascript; charset=utf-8', 'text/css; charset=utf-8']
  for (const [index, name] of files.entries()) {
    expect(pageFile(name)).toEqual({
      status: 200,
      headers: {
        'content-security-policy': policy,
        'cross-origin-opener-policy': 'same-origin',
        'content-type': types[index],
      },
      body: expect.stringMatching(/\S/u),
    })
  }
  expect(['constructor', '', '../index.js', 'INDEX.HTML'].map(pageFile)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

it('an exchange under way is shown without an answer, as what came over TLS', () => {
  const request = { method: 'GET', host: 'localhost', path: '/a', query: {}, headers: {}, body: {}, httpVersion: '1.1' }
  const exchange = { id: 1, place: 'home', started: 0, request: { ...request, tlsVersion: 'TLSv1.2' } }
  const shown = (more: object): readonly Exchange[] => [{ ...exchange, ...more } as unknown as Exchange]
  expect(harOf(shown({}))).toMatchObject({
    log: {
      entries: [
        {
          time: 0,
          timings: { wait: 0 },
          request: { url: 'https://localhost/a', bodySize: 0 },
          response: { status: 0, statusText: '' },
          comment: '',
        },
      ],
    },
  })
  const linesOf = (more: object): readonly string[] => sequenceDiagram(shown(more)).split('\n').slice(3, -1)
  expect(linesOf({})).toEqual(['    client->>service: GET /a'])
  expect(linesOf({ challenged: true, fault: 'x' }).slice(1)).toEqual([
    '    Note over service: fault: x',
    '    Note over service: firewall',
  ])
  expect(linesOf({ request: { ...request, status: 0 } }).at(-1)).toBe(
    '    service--xclient: the connection was cut after 0 ms',
  )
  expect(linesOf({ request: { ...request, status: 200 }, duration: 1.6, decision: 'why' }).at(-1)).toBe(
    '    service-->>client: 200 in 2 ms: why',
  )
})

it('what lives is shown with the time that passcodes have left, and the last twelve clients of the firewall', () => {
  const service = createServiceState(
    parseEmulatorOptions(),
    createInstances('http://127.0.0.1:1', 'http://localhost:1'),
  )
  service.clock.freeze()
  service.clock.jump(1_000_000_007)
  for (let count = 1; count <= 13; count += 1) {
    service.firewall.blocks({ address: '127.0.0.1', userAgent: `${count}` } as Parameters<
      typeof service.firewall.blocks
    >[0])
  }
  const session = service.sessions.create(service.instances.home, { codeChallenge: 'x', redirectUri: 'x', state: 'x' })
  const [account] = service.accounts.all
  if (!account) throw new Error('no account')
  const pending = awaitPasscode(service, session, account)
  const stage = (): unknown => liveState(service).sessions.youngest[0]?.stage
  expect(stage()).toBe('waits for a passcode')
  pending.verified = true
  expect(stage()).toBe('passcode verified')
  const { accounts, firewall } = liveState(service)
  expect(accounts[0]?.secondsLeft).toBe(30 - (1_000_000_007 % 30))
  expect(firewall.clients.map(({ userAgent }) => userAgent)).toEqual(
    Array.from({ length: 12 }, (_, index) => `${index + 2}`),
  )
})
