/** Each limit at it and one beyond it: invitations, the list of clients, and their secrets. */
import { describe, expect, it } from '@jest/globals'
import type { ClientKey } from '../../src/clients/client.ts'
import { endingBy, rotated } from '../../src/clients/rotation.ts'
import { newSecret, sha256 } from '../../src/clients/secret.ts'
import { checkedInvitation } from '../../src/clients/invitation.ts'
import { parseClientList } from '../../src/clients/client-list.ts'
import { ClientsError } from '../../src/index.ts'
import { outcomeOf, isTaken } from '../outcome-of.ts'

it.each([
  ['a', true],
  ['aB_.-@ 9', true],
  ['ß', true],
  ['x'.repeat(64), true],
  ['x'.repeat(65), false],
  [' a', false],
  ['a ', false],
  ['_', false],
  ['a\nb', false],
  ['a/b', false],
  ['/ab', false],
  ['ab/', false],
  ['/a', false],
  ['a/', false],
])('a client may be called %j: %s', (name, isName) => {
  expect(isTaken(() => checkedInvitation({ name, accounts: ['ann'] }))).toBe(isName)
})

it('an invitation has what was asked for, and nothing that was not', () => {
  const ahead = Math.floor(Date.now() / 1000) + 60
  expect(checkedInvitation({ name: 'a', accounts: ['Ann@Example.com', 'ann@example.com'] })).toStrictEqual({
    name: 'a',
    accounts: ['ann@example.com'],
    scope: ['token'],
  })
  const more = { scope: ['proxy', 'proxy'] as const, expiresAt: ahead + 0.5, limits: { callsPerMinute: 1 } }
  expect(checkedInvitation({ name: 'a', accounts: ['ann'], ...more })).toStrictEqual({
    name: 'a',
    accounts: ['ann'],
    scope: ['proxy'],
    expires_at: ahead,
    limits: { callsPerMinute: 1 },
  })
  for (const wrong of [{ scope: [] }, { scope: ['all'] }, { accounts: [] }, { limits: { callsPerMinute: 0 } }]) {
    expect(isTaken(() => checkedInvitation({ name: 'a', accounts: ['ann'], ...wrong } as never))).toBe(false)
  }
})

it('an invitation that ends now has ended', () => {
  const ending = (expiresAt: number) => isTaken(() => checkedInvitation({ name: 'a', accounts: ['ann'], expiresAt }))
  expect([ending(Date.now() / 1000), ending(Date.now() / 1000 + 60)]).toEqual([false, true])
})

it.each([
  ['a'.repeat(64), true],
  ['A'.repeat(64), true],
  ['a'.repeat(65), false],
  [`x${'a'.repeat(64)}`, false],
  ['a'.repeat(63), false],
])('a list of clients may have the hash %s: %s', (keySha256, isHash) => {
  const read = () => parseClientList({ clients: [{ name: 'home', keySha256, accounts: ['ann'] }] }, 'it')
  const keysOf = (): unknown => read().clients[0]?.keys
  const refused = expect.any(ClientsError)
  expect(outcomeOf(keysOf)).toEqual(isHash ? [{ sha256: 'a'.repeat(64) }] : refused)
})

it('a list of clients says of each what it was invited for, and that it ends, also its older keys', () => {
  const [one, other] = ['a'.repeat(64), 'b'.repeat(64)]
  const client = {
    name: 'home',
    keySha256: one,
    olderKeys: [{ keySha256: other, expiresAt: '2027-01-31T12:00:00Z' }],
    accounts: ['Ann@example.com', 'ann@example.com', 'sub:7'],
    scope: ['token', 'proxy', 'token'],
    invitedAt: '2026-01-31T12:00:00.900Z',
    expiresAt: '2028-01-31T12:00:00Z',
    limits: { callsPerMinute: 1 },
  }
  const listed = (more: object) => parseClientList({ clients: [{ ...client, ...more }] }, 'it').clients[0]
  expect(listed({})).toEqual({
    name: 'home',
    keys: [{ sha256: other, expires_at: Date.parse('2027-01-31T12:00:00Z') / 1000 }, { sha256: one }],
    accounts: ['ann@example.com', 'sub:7'],
    scope: ['token', 'proxy'],
    invited_at: Date.parse('2026-01-31T12:00:00Z') / 1000,
    expires_at: Date.parse('2028-01-31T12:00:00Z') / 1000,
    limits: { callsPerMinute: 1 },
  })
  for (const wrong of [
    { name: '' },
    { name: 7 },
    { accounts: [] },
    { accounts: [''] },
    { accounts: 'ann' },
    { olderKeys: {} },
    { olderKeys: [{}] },
    { scope: [] },
    { scope: ['all'] },
    { invitedAt: 'soon' },
    { expiresAt: 7 },
    { limits: {} },
    { limits: { callsPerMinute: 0 } },
    { limits: { callsPerMinute: 1.5 } },
  ]) {
    expect([wrong, outcomeOf(() => listed(wrong))]).toEqual([wrong, expect.any(ClientsError)])
  }
})

it('an error of the clients has the cause that it was given, and else none', () => {
  const cause = new Error('EACCES')
  expect(new ClientsError('unreadable', 'It can’t be read.', cause).cause).toBe(cause)
  expect('cause' in new ClientsError('busy', 'Try again.')).toBe(false)
  const told = { name: 'ClientsError', code: 'ERR_BROKER_CLIENTS', reason: 'busy', message: 'Try again.' }
  expect(new ClientsError('busy', 'Try again.')).toMatchObject(told)
})

it('a client’s secret is 256 random bits, and says what it is', () => {
  expect(newSecret()).toMatch(/^owner-sso-[\w-]{43}$/u)
  expect(newSecret()).not.toBe(newSecret())
  expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})

describe('the next token of a client', () => {
  const client = (...keys: readonly ClientKey[]) => ({ name: 'a', accounts: ['ann'], scope: ['token'] as const, keys })
  const key = (name: string, expires_at?: number): ClientKey => ({
    sha256: name,
    ...(expires_at !== undefined && { expires_at }),
  })

  it('leaves those before the one that was used a grace, and drops what is over', () => {
    const keys = [key('a', 5), key('b'), key('c', 50), key('d'), key('e')]
    expect(rotated(client(...keys), 'd', 'f', 30, 5).keys).toEqual([
      key('b', 30),
      key('c', 30),
      key('d'),
      key('e'),
      key('f'),
    ])
    expect(rotated(client(key('a')), 'other', 'f', 30, 5).keys).toEqual([key('a')])
    expect([endingBy(key('a', 20), 30), endingBy(key('a', 40), 30)]).toEqual([key('a', 20), key('a', 30)])
  })

  it('is one of eight at the most that it has not used', () => {
    const unused = Array.from({ length: 8 }, (_, index) => key(`n${index}`))
    const { keys } = rotated(client(key('used'), ...unused), 'used', 'new', 30, 5)
    expect(keys).toEqual([key('used'), ...unused.slice(1), key('new')])
    expect(rotated(client(key('used'), ...unused.slice(1)), 'used', 'new', 30, 5).keys).toHaveLength(9)
  })
})
