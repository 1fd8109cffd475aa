/** Each limit at it and one beyond it: faults, and how a response is changed by them. */
import { describe, expect, it } from '@jest/globals'
import type { ServiceResponse } from '../../src/http/service-response.ts'
import { createCounters } from '../../src/service/counters.ts'
import type { Fault } from '../../src/faults/fault.ts'
import { isCorrupted } from '../../src/faults/corrupted-response.ts'
import { sizedResponse } from '../../src/faults/sized-body.ts'
import { checkFault } from '../../src/faults/fault-checks.ts'
import { faultWords } from '../../src/faults/fault-words.ts'
import { createFaults } from '../../src/faults/faults.ts'
import { type EmulatedResponse, transformedResponse } from '../../src/faults/transform.ts'

describe('a fault', () => {
  it.each<[object]>([
    [{}],
    [{ delay: 0, drip: 0.5, dripFrom: 'body', endless: false }],
    [{ status: 200, bodyLength: 0, interim: 0 }],
    [{ status: 599, bodyLength: 1024 ** 3, interim: 1_000_000 }],
    [{ headers: { a: 'x', b: ['x', 'y'] }, body: null }],
    [{ hold: Promise.resolve() }],
    [{ commit: 'before', drop: 'half-close', firewall: 'script' }],
    [{ status: undefined }],
  ])('may be %j', (fault) => {
    expect(() => checkFault(fault)).not.toThrow()
  })

  it.each<[string, unknown]>([
    ['delay', -1],
    ['hold', {}],
    ['hold', null],
    ['commit', 'never'],
    ['drop', 'now'],
    ['status', 199],
    ['status', 600],
    ['status', 200.5],
    ['status', '200'],
    ['headers', { a: 1 }],
    ['headers', { a: ['x', 1] }],
    ['headers', ['a']],
    ['firewall', 'yes'],
    ['drip', Infinity],
    ['dripFrom', 'tail'],
    ['bodyLength', -1],
    ['bodyLength', 1024 ** 3 + 1],
    ['endless', 1],
    ['interim', -1],
    ['interim', 1_000_001],
    ['other', 1],
  ])('may not be %s: %j', (name, value) => {
    expect(() => checkFault({ [name]: value })).toThrow(TypeError)
    expect(() => checkFault({ [name]: value })).toThrow(`ield ${name}`)
  })
})

it('a fault is told by its words, and its bodies and headers by their names alone', () => {
  expect(
    faultWords({
      drop: 'mid-body',
      delay: 0,
      endless: false,
      headers: { a: 'x' },
      body: 'secret',
      status: undefined,
    } as unknown as Fault),
  ).toBe('drop: mid-body, delay: 0, headers, body')
  expect([faultWords({}), faultWords({ endless: false }), faultWords({ endless: true })]).toEqual([
    undefined,
    undefined,
    'endless',
  ])
})

it('of functions that fail the first hundred are told, with the order that each was given with', async () => {
  const faults = createFaults(createCounters())
  const broken = (): never => {
    throw new Error('broken')
  }
  faults.always('token', broken)
  faults.once('token', broken)
  for (let count = 0; count < 101; count += 1) {
    await faults.take('token').transform?.({ status: 200, headers: {}, body: '' })
  }
  expect(faults.failures).toHaveLength(100)
  expect(faults.failures.slice(0, 2).map(({ where }) => where)).toEqual(["once('token', …)", "always('token', …)"])
})

it('ten thousand faults may wait at an endpoint, and one endpoint is cleared without the others', () => {
  const faults = createFaults(createCounters())
  for (let count = 0; count < 10_000; count += 1) faults.once('token', {})
  expect(() => faults.once('token', {})).toThrow('Too many faults wait at token: 10000')
  faults.once('refresh', { status: 500 })
  faults.always('refresh', { status: 501 })
  faults.clear('token')
  expect([faults.ordered('token').once, faults.ordered('refresh')]).toEqual([
    [],
    { always: { status: 501 }, once: [{ status: 500 }] },
  ])
  faults.clear()
  expect(faults.ordered('refresh')).toEqual({ always: undefined, once: [] })
})

it('a function of a test gets JSON as what it holds and anything else as text, and no body is null', async () => {
  const bodies: unknown[] = []
  const seen = async (body: string, headers: Record<string, string>, change: Partial<EmulatedResponse> = {}) => {
    const keep = (response: EmulatedResponse): Partial<EmulatedResponse> => {
      bodies.push(response.body)
      return change
    }
    const { status, body: sent } = await transformedResponse({ status: 200, headers, body }, keep, (error) => {
      throw error
    })
    return [status, sent]
  }
  const json = { 'content-type': 'application/json; charset=utf-8' }
  expect(await seen('{"a":1}', { 'content-type': 'text/plain' })).toEqual([200, '{"a":1}'])
  expect(await seen('{"a":1}', {})).toEqual([200, '{"a":1}'])
  expect(await seen('{"a":1}', json)).toEqual([200, '{"a":1}'])
  expect(await seen('{"a":', json)).toEqual([200, '{"a":'])
  expect(await seen('{"a":1}', json, { body: undefined })).toEqual([200, 'null'])
  expect(bodies).toEqual(['{"a":1}', '{"a":1}', { a: 1 }, '{"a":', { a: 1 }])
  expect([await seen('', {}, { status: 599 }), await seen('', {}, { status: 200 })]).toEqual([
    [599, ''],
    [200, ''],
  ])
})

it.each<[Fault, boolean]>([
  [{}, false],
  [{ endless: false, status: 500, delay: 1, bodyLength: 1, dripFrom: 'headers' }, false],
  [{ drop: 'mid-body' }, true],
  [{ drip: 0 }, true],
  [{ endless: true }, true],
  [{ interim: 0 }, true],
])('the fault %j corrupts the bytes of an answer: %s', (fault, does) => {
  expect(isCorrupted(fault)).toBe(does)
})

it('a body is cut or filled up to its size, and the other headers stay', async () => {
  const original = { status: 200, headers: { a: 'b', 'content-length': '3' }, body: 'xyz' }
  const texts = []
  for (const bytes of [2, 5]) {
    const { status, headers, body } = await sizedResponse(original, bytes)
    texts.push([status, headers, typeof body === 'string' ? body : String(await body.toArray())])
  }
  expect(texts).toEqual([
    [200, { a: 'b', 'content-length': '2' }, 'xy'],
    [200, { a: 'b', 'content-length': '5' }, 'xyz  '],
  ])
})

it('a function of a test may answer 200 to 599; what it leaves alone stays', async () => {
  const original = { status: 201, headers: { a: 'b' }, body: 'x', decision: 'why' }
  const failures: unknown[] = []
  const outcome = (change: Partial<EmulatedResponse>): Promise<ServiceResponse> =>
    transformedResponse(
      original,
      () => change,
      (error) => failures.push(error),
    )
  expect(await outcome({})).toEqual(original)
  expect(await outcome({ body: { c: 1 } })).toEqual({
    status: 201,
    headers: { 'content-type': 'application/json; charset=utf-8', a: 'b' },
    body: '{"c":1}',
    decision: 'why',
  })
  expect(failures).toEqual([])
  for (const status of [199, 600, 200.5]) expect((await outcome({ status })).status).toBe(500)
  expect(failures.map(String)).toEqual(Array.from({ length: 3 }, () => 'TypeError: The status must be 200 to 599'))
})
