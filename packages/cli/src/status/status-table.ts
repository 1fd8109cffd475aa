/**
 * The accounts of a store as lines of text: a row for each, and below it what its refreshes did and will do.
 */
import { overdueAdvice, refusalAdvice, type SsoErrorCode, type TokenStatus, visible } from '@owner-sso/core'
import { localTime } from '../terminal/local-time.ts'
import { duration } from '../terminal/wording.ts'
import type { Line } from '../terminal/output.ts'

export interface AccountStatus extends TokenStatus {
  readonly account: string
}

const words: Record<TokenStatus['state'], readonly [text: string, colour: 'green' | 'yellow' | 'red']> = {
  valid: ['valid', 'green'],
  expired: ['expired', 'yellow'],
  'in-doubt': ['in doubt', 'yellow'],
  'signed-out': ['signed out', 'red'],
  'reauthentication-required': ['sign in again', 'red'],
}

/** Why a refresh failed: what the store remembers of it is the code alone, of this release of core or of another one. */
const failures: Partial<Record<string, string>> = {
  ERR_SSO_UNREACHABLE: 'the SSO service could not be reached',
  ERR_SSO_TIMEOUT: 'the SSO service did not answer in time',
  ERR_SSO_FIREWALL_CHALLENGE: 'the SSO service’s firewall blocked it',
  ERR_SSO_TOKEN_REJECTED: 'the SSO service called it a wrong request',
  ERR_SSO_UNEXPECTED_RESPONSE: 'the SSO service’s answer could not be understood',
} satisfies Partial<Record<SsoErrorCode, string>>

/** Characters of the bar that shows how much of an access token's life is left. */
const barWidth = 20

export function statusTable(accounts: readonly AccountStatus[]): Line[] {
  const rows = accounts.map((status) => ({ ...cells(status), status, colour: words[status.state][1] }))
  const wide = (column: 'account' | 'state' | 'life'): number => Math.max(...rows.map((row) => row[column].length))
  const [account, state, life] = [wide('account'), wide('state'), wide('life')]
  return rows.flatMap((row): Line[] => [
    [
      `${row.account.padEnd(account)}  `,
      { format: row.colour, text: `${row.state.padEnd(state)}  ` },
      { format: row.colour, text: row.region === '' ? row.life : `${row.life.padEnd(life)}  ` },
      row.region,
    ],
    ...details(row.status).map((text): Line => below(account, 'dim', text)),
    ...adviceOn(row.status).map((text): Line => below(account, 'yellow', text)),
  ])
}

const below = (account: number, format: 'dim' | 'yellow', text: string): Line => [
  { format, text: `${' '.repeat(account + 2)}${text}` },
]

function adviceOn(status: AccountStatus): string[] {
  return [refusalAdvice(status, localTime), overdueAdvice(status, localTime)].filter((text) => text !== undefined)
}

function cells(status: AccountStatus): { account: string; state: string; life: string; region: string } {
  const left = secondsLeft(status)
  const lifetime = (status.expires_at ?? 0) - (status.obtained_at ?? 0)
  const hasLife = left !== undefined && status.state !== 'reauthentication-required'
  return {
    account: visible(status.account),
    state: words[status.state][0],
    life: hasLife ? `${lifeBar(left, lifetime)}  ${remark(status, left)}` : remark(status, 0),
    region: status.auth_url === undefined ? '' : new URL(status.auth_url).host,
  }
}

/** `█` for what is left, `░` for what is gone; both counted so that any time left shows. */
function lifeBar(left: number, lifetime: number): string {
  const filled = lifetime > 0 ? Math.ceil(Math.min(1, left / lifetime) * barWidth) : 0
  return '█'.repeat(filled) + '░'.repeat(barWidth - filled)
}

/** What can be said of it in few words. */
function remark({ state, reason, next_attempt_at, not_refreshed_since }: AccountStatus, left: number): string {
  if (state === 'valid') return `${duration(left)} left`
  if (state === 'expired') return not_refreshed_since === undefined ? 'refreshed when next used' : 'not refreshed'
  if (state === 'in-doubt')
    return next_attempt_at === undefined ? 'replayed elsewhere' : `replayed in ${duration(next_attempt_at - now())}`
  return reason === undefined ? 'run owner-sso login' : `run owner-sso login (${reason.replaceAll('_', ' ')})`
}

/** The last refresh, the next one, and what went wrong, as far as there is any. */
function details(status: AccountStatus): string[] {
  const { state, refreshed_at, refresh_due_at, in_doubt_since, last_failure, not_refreshed_since } = status
  const last = refreshed_at === undefined ? [] : [`refreshed ${ago(refreshed_at)}`]
  const isKnown = state === 'valid' && not_refreshed_since === undefined
  const next = isKnown && refresh_due_at !== undefined ? [dueText(refresh_due_at)] : []
  const lines = [...last, ...next].join(', ')
  return [
    ...(lines === '' ? [] : [lines]),
    ...(in_doubt_since === undefined ? [] : [`in doubt since a refresh ${ago(in_doubt_since)}: its answer was lost`]),
    ...(last_failure === undefined
      ? []
      : [
          `last failure ${ago(last_failure.at)}: ${failures[last_failure.code] ?? 'the refresh failed'} (${last_failure.code})`,
        ]),
  ]
}

function dueText(at: number): string {
  return at > now() ? `next refresh in ${duration(at - now())}` : 'next refresh when it is next used'
}

function ago(at: number): string {
  return `${duration(now() - at)} ago`
}

const now = (): number => Date.now() / 1000

/** Whole seconds until the access token ends, none below 0; undefined where there is no token. */
export function secondsLeft({ expires_at }: TokenStatus): number | undefined {
  return expires_at === undefined ? undefined : Math.max(0, Math.floor(expires_at - now()))
}
