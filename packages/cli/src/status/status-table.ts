/**
 * The accounts of a store as lines of text: a row for each, and below it what its refreshes did and will do.
 */
import { refusalAdvice, type TokenStatus, visible, type Why } from '@owner-sso/core'
import { localTime } from '../terminal/local-time.ts'
import { duration } from '../terminal/wording.ts'
import type { Line } from '../terminal/output.ts'

export interface AccountStatus extends TokenStatus {
  readonly account: string
  readonly why: Why
}

const words: Record<TokenStatus['state'], readonly [text: string, colour: 'green' | 'yellow' | 'red']> = {
  valid: ['valid', 'green'],
  expired: ['expired', 'yellow'],
  'in-doubt': ['in doubt', 'yellow'],
  'signed-out': ['signed out', 'red'],
  'reauthentication-required': ['sign in again', 'red'],
}

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
    ...refreshes(row.status).map((text): Line => below(account, 'dim', text)),
    ...problem(row.status).map((text): Line => below(account, 'yellow', text)),
  ])
}

const below = (account: number, format: 'dim' | 'yellow', text: string): Line => [
  { format, text: `${' '.repeat(account + 2)}${text}` },
]

/** What is wrong with it, if anything is. */
function problem(status: AccountStatus): string[] {
  const { cause, sentence } = status.why
  return cause === 'signed-in' ? [] : [refusalAdvice(status, localTime) ?? sentence]
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
function remark({ state, next_attempt_at = 0 }: AccountStatus, left: number): string {
  if (state === 'valid') return `${duration(left)} left`
  if (state === 'expired') return 'refreshed when next used'
  if (state === 'in-doubt') return `replayed in ${duration(next_attempt_at - now())}`
  return 'run owner-sso login'
}

/** The last refresh and the next one, as far as there is any. */
function refreshes({ state, refreshed_at, refresh_due_at }: AccountStatus): string[] {
  const last = refreshed_at === undefined ? [] : [`refreshed ${duration(now() - refreshed_at)} ago`]
  const next = state === 'valid' && refresh_due_at !== undefined ? [dueText(refresh_due_at)] : []
  const lines = [...last, ...next].join(', ')
  return lines === '' ? [] : [lines]
}

function dueText(at: number): string {
  return at > now() ? `next refresh in ${duration(at - now())}` : 'next refresh when it is next used'
}

const now = (): number => Date.now() / 1000

/** Whole seconds until the access token ends, none below 0; undefined where there is no token. */
export function secondsLeft({ expires_at }: TokenStatus): number | undefined {
  return expires_at === undefined ? undefined : Math.max(0, Math.floor(expires_at - now()))
}
