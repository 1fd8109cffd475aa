/** The sentence that people read of an account whose refreshed access tokens the owner API refuses. */
import { expect, it } from '@jest/globals'
import type { TokenStatus } from '../../src/index.ts'
import { overdueAdvice, refusalAdvice } from '../../src/support.ts'

/** Far ahead, at 14:10 UTC. */
const end = Date.parse('2100-01-31T14:10:59Z') / 1000
const refused: TokenStatus = { state: 'valid', expires_at: end, refreshed_tokens_refused: 2 }
const over = 'Refreshed tokens are refused by the owner API; sign in again.'

it.each<[string, TokenStatus, string | undefined]>([
  [
    'until when the access token works',
    refused,
    'Refreshed tokens are refused by the owner API. Works until 14:10 UTC; sign in again before.',
  ],
  ['that it has ended', { ...refused, state: 'expired' }, over],
  ['that it is refused itself', { ...refused, refused: true }, over],
  ['that it has ended since', { ...refused, expires_at: 1 }, over],
  ['nothing where refreshed tokens are accepted', { state: 'valid', expires_at: end }, undefined],
  [
    'nothing where the owner has to sign in anyway',
    { ...refused, state: 'reauthentication-required', reason: 'refresh_token_rejected' },
    undefined,
  ],
  ['nothing where nobody is signed in', { state: 'signed-out' }, undefined],
])('says %s', (_, status, sentence) => {
  expect(refusalAdvice(status)).toBe(sentence)
})

it('writes the time as it is told to', () => {
  expect(refusalAdvice(refused, (at) => `<${at}>`)).toContain(`Works until <${end}>; `)
})

const nobody: TokenStatus = {
  state: 'valid',
  expires_at: end,
  not_refreshed_since: Date.UTC(2026, 0, 31, 6, 10) / 1000,
}

it.each<[string, TokenStatus, string | undefined]>([
  [
    'since when nobody has refreshed',
    nobody,
    'Nobody has refreshed since 2026-01-31 06:10 UTC. Works until 14:10 UTC. Look at the process that refreshes.',
  ],
  [
    'nothing of an end that is over',
    { ...nobody, expires_at: 1 },
    'Nobody has refreshed since 2026-01-31 06:10 UTC. Look at the process that refreshes.',
  ],
  [
    'nothing of the end of a token that is refused',
    { ...nobody, refused: true },
    'Nobody has refreshed since 2026-01-31 06:10 UTC. Look at the process that refreshes.',
  ],
  ['nothing where somebody has', { state: 'valid', expires_at: end }, undefined],
])('of refreshes that are left to others it says %s', (_, status, sentence) => {
  expect(overdueAdvice(status)).toBe(sentence)
})

it('names no day that is not over', () => {
  const since = Math.floor(Date.now() / 1000)
  expect(overdueAdvice({ ...nobody, not_refreshed_since: since })).toMatch(/since \d\d:\d\d UTC\. /u)
})
