/** Each limit at it and one beyond it: alerts, their channels, and what is noted of them. */
import { describe, expect, it } from '@jest/globals'
import type { Notes } from '@owner-sso/core'
import { alertBody } from '../../src/alerts/alert.ts'
import { commandAlert } from '../../src/alerts/command.ts'
import { mqttAlert } from '../../src/alerts/mqtt.ts'
import { webhookAlert } from '../../src/alerts/webhook.ts'
import { isSignedWebhook, signedHeaders, webhookKey } from '../../src/alerts/signature.ts'
import { alertTypeOf, begun, claimed, concluded, isDone, noteIn } from '../../src/alerts/noted-alert.ts'
import { outcomeOf, isTaken } from '../outcome-of.ts'

describe('a signed webhook', () => {
  const secretOf = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64')
  const secret = secretOf(32)
  const signedAt = (at: string, sent = at): Record<string, string> => ({
    ...signedHeaders(webhookKey(secret), 'id', at as unknown as number, 'body'),
    'webhook-timestamp': sent,
  })

  it.each([
    [23, false],
    [24, true],
    [64, true],
    [65, false],
  ])('may have a secret of %i bytes: %s', (bytes, isSecret) => {
    expect(isTaken(() => webhookKey(secretOf(bytes)))).toBe(isSecret)
    expect(isTaken(() => webhookKey(`whsec_${secretOf(bytes)}`))).toBe(isSecret)
    expect(isTaken(() => webhookKey(`x whsec_${secretOf(bytes)}`))).toBe(false)
  })

  it.each(['AAAA=', '=AAAA', ' ', '-', '\n', 'AAAAwhsec_'])('may not have a secret with %j in it', (odd) => {
    expect(isTaken(() => webhookKey(secretOf(30)))).toBe(true)
    expect(isTaken(() => webhookKey(`${odd}${secretOf(30)}`))).toBe(false)
    expect(isTaken(() => webhookKey(`${secretOf(30)}${odd}A`))).toBe(false)
  })

  it.each([
    [0, true],
    [300, true],
    [-300, true],
    [301, false],
    [-301, false],
  ])('that is %i s old is new: %s', (age, isNew) => {
    expect(isSignedWebhook(secret, signedAt('1790000000'), 'body', 1_790_000_000 + age)).toBe(isNew)
  })

  it.each([' 1790000000', '1790000000 ', '+1790000000', '1.79e9', '0001790000000'])(
    'has no time written %j, though the signature is right',
    (at) => {
      expect(isSignedWebhook(secret, signedAt(at), 'body', 1_790_000_000)).toBe(false)
    },
  )

  it('is not what lacks a header, or has another version or no signature', () => {
    const right = signedAt('1790000000')
    const judge = (headers: object): boolean => isSignedWebhook(secret, { ...headers }, 'body', 1_790_000_000)
    expect(judge({ ...right, 'webhook-signature': `v0,x ${right['webhook-signature']}` })).toBe(true)
    expect(judge({ ...right, 'webhook-signature': right['webhook-signature']?.replace('v1', 'v2') })).toBe(false)
    for (const name of Object.keys(right)) expect(judge({ ...right, [name]: undefined })).toBe(false)
    const named = signedHeaders(webhookKey(secret), 'undefined', 1_790_000_000, 'body')
    expect([judge(named), judge({ ...named, 'webhook-id': undefined })]).toEqual([true, false])
  })
})

it.each([
  ['owner-sso', true],
  ['/a/b$', true],
  ['', false],
  ['a/', false],
  ['$a', false],
  ['a+', false],
  ['#', false],
])('alerts may be told to the topic %j: %s', (topic, isTopic) => {
  expect(isTaken(() => mqttAlert({ url: 'mqtts://mqtt.example', topic }))).toBe(isTopic)
})

it.each([
  ['mqtts://mqtt.example', true],
  ['wss://mqtt.example', true],
  ['mqtt://127.0.0.1', true],
  ['mqtt://mqtt.example', false],
  ['ws://127.0.0.1', false],
  ['mqtts://name@mqtt.example', false],
  ['mqtts://:password@mqtt.example', false],
  ['mqtt.example', false],
])('alerts may be told to %s: %s', (url, isSafe) => {
  const outcome = outcomeOf(() => mqttAlert({ url }))
  const refused = url.includes('@')
    ? 'url of MQTT must be without a user name and password: give username and password'
    : 'url of MQTT must be an mqtts address, or mqtt on a loopback host'
  expect(outcome instanceof TypeError ? outcome.message : 'taken').toBe(isSafe ? 'taken' : refused)
})

describe('the notes about an alert', () => {
  const now = (): number => Math.floor(Date.now() / 1000)
  const noted = (more: object = {}) => ({ id: 'i', type: 'sign-in.needed', at: now(), told: {}, ...more })
  const notesOf = (...entries: (readonly [string, object])[]): Notes => Object.fromEntries(entries)

  it('are read where each field is there, and not otherwise', () => {
    expect(noteIn(notesOf(['ann', noted()]), 'ann')).toEqual(noted())
    const wrong = [{ id: 1 }, { type: 'other' }, { at: '1' }, { told: null }, { told: 'x' }, { id: undefined }]
    for (const more of wrong) expect(noteIn(notesOf(['ann', noted(more)]), 'ann')).toBeUndefined()
    expect(noteIn(notesOf(), 'toString')).toBeUndefined()
  })

  it('begin where an account stands otherwise than before, and forget after a week that one works', () => {
    expect(begun(notesOf(), 'ann', 'sign-in.restored', undefined)).toEqual({})
    const week = 7 * 86_400
    const others = notesOf(
      ['new', noted({ type: 'sign-in.restored', at: now() - week + 5 })],
      ['old', noted({ type: 'sign-in.restored', at: now() - week - 5 })],
      ['needed', noted({ at: 0 })],
      ['strange', { id: 1 }],
    )
    const after = begun(others, 'ann', 'sign-in.needed', 'no_refresh_token')
    expect(Object.keys(after)).toEqual(['new', 'needed', 'ann'])
    expect(noteIn(after, 'ann')).toMatchObject({ type: 'sign-in.needed', reason: 'no_refresh_token', told: {} })
    expect(begun(after, 'ann', 'sign-in.needed', undefined)).toBe(after)
    expect(noteIn(begun(after, 'ann', 'sign-in.restored', undefined), 'ann')).not.toHaveProperty('reason')
  })

  it('are claimed by one for 90 seconds, and tried again when it is time', () => {
    const first = claimed(notesOf(['ann', noted()]), 'ann', 'i', 'mqtt', 'one')
    const telling = noteIn(first, 'ann')?.told['mqtt']
    expect(telling).toMatchObject({ claim: 'one', tries: 1 })
    expect([89, 90]).toContain((telling?.until ?? 0) - now())
    expect(claimed(first, 'ann', 'i', 'mqtt', 'two')).toBe(first)
    expect(claimed(first, 'ann', 'other', 'mqtt', 'two')).toBe(first)
    expect(concluded(first, 'ann', 'i', 'mqtt', 'two', undefined)).toBe(first)
    const failed = concluded(first, 'ann', 'i', 'mqtt', 'one', now() - 1)
    expect(noteIn(failed, 'ann')?.told).toEqual({ mqtt: { claim: 'one', tries: 1, again_at: now() - 1 } })
    expect(isDone(noteIn(failed, 'ann')?.told['mqtt'])).toBe(false)
    const again = claimed(failed, 'ann', 'i', 'mqtt', 'two')
    expect(noteIn(again, 'ann')?.told['mqtt']).toMatchObject({ claim: 'two', tries: 2 })
    const done = concluded(again, 'ann', 'i', 'mqtt', 'two', undefined)
    expect(isDone(noteIn(done, 'ann')?.told['mqtt'])).toBe(true)
    expect(claimed(done, 'ann', 'i', 'mqtt', 'three')).toBe(done)
    expect([isDone(undefined), isDone({ claim: 'x', tries: 1, until: 1 })]).toEqual([false, false])
  })

  it('fit how an account stands', () => {
    const states = ['valid', 'expired', 'in-doubt', 'signed-out', 'reauthentication-required'] as const
    expect(states.map((state) => alertTypeOf({ state }))).toEqual([
      'sign-in.restored',
      'sign-in.restored',
      undefined,
      'sign-in.needed',
      'sign-in.needed',
    ])
  })
})

it('an alert says who and when, in words and for programs, and why and where if that is known', () => {
  const alert = { id: 'a-1', account: 'ann', at: 1_790_000_000 } as const
  const timestamp = '2026-09-21T14:13:20.000Z'
  expect(JSON.parse(alertBody({ ...alert, type: 'sign-in.restored' }))).toStrictEqual({
    id: 'a-1',
    type: 'sign-in.restored',
    timestamp,
    data: { account: 'ann', message: 'ann works again.' },
  })
  const more = { type: 'sign-in.needed', reason: 'signed-out', signInUrl: 'https://a.example' } as const
  const message = 'ann has to sign in again. Until then, no program gets a token for it.'
  expect(JSON.parse(alertBody({ ...alert, ...more }))).toStrictEqual({
    id: 'a-1',
    type: 'sign-in.needed',
    timestamp,
    data: { account: 'ann', message, reason: 'signed-out', sign_in_url: 'https://a.example' },
  })
})

it('each channel of an alert has the name under which it is remembered', () => {
  const secret = Buffer.alloc(24, 7).toString('base64')
  const channels = [
    commandAlert({ command: ['true'] }),
    mqttAlert({ url: 'mqtts://a.example' }),
    webhookAlert({ url: 'https://a.example', secret }),
  ]
  expect(channels.map(({ name }) => name)).toEqual(['command', 'mqtt', 'webhook'])
})

it('what is told of one account and channel leaves the others as they are', () => {
  const noted = { id: 'i', type: 'sign-in.needed', at: 1, told: { mqtt: { claim: 'one', tries: 1 } } }
  const notes = { ann: noted, bob: noted }
  const after = claimed(notes, 'ann', 'i', 'webhook', 'two')
  expect(after['bob']).toBe(noted)
  expect(noteIn(after, 'ann')?.told).toEqual({
    mqtt: { claim: 'one', tries: 1 },
    webhook: { claim: 'two', tries: 1, until: expect.any(Number) },
  })
})
