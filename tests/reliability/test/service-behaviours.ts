/**
 * B-H: the ways in which services answer a refresh, and what each comes to for the callers of two processes: if nothing
 * else happens, if the process that asked is killed, and if it is stopped for longer than its intent lives.
 */
import type { EmulatorOptions } from '@owner-sso/emulator'

/** What callers get in the end, how often the service refreshed, and how many spent refresh tokens it saw again. */
export type Outcome = readonly [ending: string, refreshes: number, replays: number]

export interface Behaviour {
  readonly name: string
  readonly emulator?: EmulatorOptions
  readonly identity?: string
  /** The account signs in by the login itself. */
  readonly login?: true
  /** The owner API refuses the access token long before its end. */
  readonly revoked?: true
  /** How the first refresh request is answered. */
  readonly fault?: {
    readonly commit?: 'after'
    readonly drop?: 'after-commit' | 'mid-body' | 'after-body'
    readonly status?: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: unknown
  }
  readonly ok: Outcome
  readonly crash: Outcome
  readonly pause: Outcome
}

const lost = 'ERR_SSO_REAUTHENTICATION_REQUIRED:rotated_token_lost'
const rejected = 'ERR_SSO_REAUTHENTICATION_REQUIRED:refresh_token_rejected'
const html = { 'content-type': 'text/html; charset=utf-8' }

/** The answer never came, or said nothing: the refresh is repeated once, and this one is answered. */
const unspentAfterAll = {
  ok: ['token', 1, 0],
  crash: ['token', 1, 0],
  pause: ['token', 1, 0],
} satisfies Partial<Behaviour>

/** The service spent the refresh token, and nobody has its successor. */
const lostWithTheAnswer = { ok: [lost, 1, 1], crash: [lost, 1, 1], pause: [lost, 1, 1] } satisfies Partial<Behaviour>

const strict = { ok: ['token', 1, 0], crash: [lost, 1, 1], pause: ['token', 1, 0] } satisfies Partial<Behaviour>

/** The refresh token stays good, or its repetition is forgiven. */
const forgiving = (refreshes: number, replays: number): Pick<Behaviour, 'ok' | 'crash' | 'pause'> => ({
  ok: ['token', 1, 0],
  crash: ['token', refreshes, replays],
  pause: ['token', 1, 0],
})

export const behaviours: readonly Behaviour[] = [
  { name: 'H1 rotates strictly', ...strict },
  { name: 'H2 rotates, and revokes the family at a replay', emulator: { reuse: 'revoke-family' }, ...strict },
  { name: 'H3 repeats its answer for a minute', emulator: { reuse: 'grace' }, ...forgiving(1, 1) },
  { name: 'H4 answers a replay with the spent token', emulator: { reuse: 'grace-stale' }, ...forgiving(1, 1) },
  { name: 'H5 leaves the refresh token out, which stays good', emulator: { rotation: 'omit' }, ...forgiving(2, 0) },
  { name: 'H6 answers with the same refresh token', emulator: { rotation: 'same' }, ...forgiving(2, 0) },
  { name: 'H7 cuts the connection after the commit', fault: { drop: 'after-commit' }, ...lostWithTheAnswer },
  { name: 'H7 cuts the connection in the body', fault: { drop: 'mid-body', commit: 'after' }, ...lostWithTheAnswer },
  { name: 'H7 cuts the connection after the body', fault: { drop: 'after-body', commit: 'after' }, ...strict },
  { name: 'H8 fails with 500 before the commit', fault: { status: 500 }, ...unspentAfterAll },
  { name: 'H8 fails with 503 after the commit', fault: { status: 503, commit: 'after' }, ...lostWithTheAnswer },
  {
    name: 'H9 says invalid_grant',
    fault: { status: 400, body: { error: 'invalid_grant' } },
    ok: [rejected, 0, 0],
    crash: ['token', 1, 0],
    pause: [rejected, 0, 0],
  },
  { name: 'H9 says invalid_request', fault: { status: 400, body: { error: 'invalid_request' } }, ...unspentAfterAll },
  {
    name: 'H9 says temporarily_unavailable',
    fault: { status: 503, body: { error: 'temporarily_unavailable' } },
    ...unspentAfterAll,
  },
  {
    name: 'H9 answers 400 with a page',
    fault: { status: 400, headers: html, body: '<html><title>Bad request</title><p>Sorry.</p></html>' },
    ...unspentAfterAll,
  },
  {
    name: 'H10 revokes the access token early',
    revoked: true,
    ok: ['token', 1, 0],
    crash: [lost, 1, 1],
    pause: ['token', 1, 1],
  },
  { name: 'H11 has the account in another region', identity: 'regional@example.com', ...strict },
  {
    name: 'H12 answers with a passcode page',
    fault: { status: 200, headers: html, body: '<html><form method="post"><input name="passcode"></form></html>' },
    ...unspentAfterAll,
  },
  {
    name: 'H13 has renamed the hidden inputs of its login page',
    emulator: { hiddenInputs: { rename: { _csrf: 'check', transaction_id: 'toString' }, extra: { __proto__x: '1' } } },
    login: true,
    ...strict,
  },
]
