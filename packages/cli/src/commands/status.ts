/**
 * `owner-sso status`: every account with its state, the time left, its refreshes, its region, and the store.
 */
import { accountName, overdueAdvice, refusalAdvice, type TokenStatus, visible, type Why } from '@owner-sso/core'
import { duration, localTime } from '../terminal/wording.ts'
import { type Line, printData, printJson, printNote } from '../terminal/output.ts'
import { accountNames } from '../tokens/account.ts'
import { exitCodes } from '../failure/command-error.ts'
import type { Settings } from '../settings/settings.ts'
import { type TokenKeeping, withTokens } from '../tokens/token-keeping.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'status',
  summary: 'show every account: state, time left, region',
  description:
    'Shows the accounts of the store, or the one that --account names: whether its access token is valid and for ' +
    'how long, the region that issued it, the last refresh and the next, what is wrong with it, and the store. Sends ' +
    'nothing. With --account, the exit code is 3 if only a new sign-in helps.',
  options: {},
  examples: [
    ['owner-sso status', 'a table'],
    ['owner-sso status --json | jq ".accounts[].state"', 'for programs'],
  ],
  async run({ settings }) {
    return withTokens(settings, undefined, async (keeping) => {
      const { accounts, failure } = await statuses(settings, keeping)
      const { shown } = keeping.store
      if (failure !== undefined && accounts.length === 0) throw failure
      if (settings.json) await printJson({ store: shown, accounts: accounts.map(forPrograms) })
      else if (accounts.length > 0) await printData(...statusTable(accounts), '', `Store: ${shown}`)
      else printNote(`Nobody is signed in at ${shown}. Sign in with: owner-sso login`)
      if (failure !== undefined) throw failure
      return settings.account !== undefined && accounts.some(needsSignIn) ? exitCodes.signInAgain : exitCodes.ok
    })
  },
})

/** Those that can be read, and why the others can't. */
interface Statuses {
  readonly accounts: readonly AccountStatus[]
  readonly failure: unknown
}

async function statuses({ account }: Settings, { tokens }: TokenKeeping): Promise<Statuses> {
  const { names, failure } =
    account === undefined ? await accountNames(tokens) : { names: [accountName(account.value)], failure: undefined }
  const accounts = await Promise.all(names.map((name) => statusOf(name, tokens)))
  return { accounts, failure }
}

async function statusOf(account: string, tokens: TokenKeeping['tokens']): Promise<AccountStatus> {
  const status = await tokens.status(account)
  return { account, ...status, why: (await tokens.history(account)).why }
}

function forPrograms(status: AccountStatus): object {
  return { ...status, seconds_left: secondsLeft(status), advice: refusalAdvice(status) ?? overdueAdvice(status) }
}

function needsSignIn({ state }: TokenStatus): boolean {
  return state === 'signed-out' || state === 'reauthentication-required'
}

interface AccountStatus extends TokenStatus {
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

function statusTable(accounts: readonly AccountStatus[]): Line[] {
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
  const overdue = overdueAdvice(status, localTime)
  if (overdue !== undefined) return [overdue]
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
function remark({ state, next_attempt_at, not_refreshed_since }: AccountStatus, left: number): string {
  if (state === 'valid') return `${duration(left)} left`
  if (state === 'expired') return not_refreshed_since === undefined ? 'refreshed when next used' : 'not refreshed'
  if (state === 'in-doubt')
    return next_attempt_at === undefined ? 'replayed elsewhere' : `replayed in ${duration(next_attempt_at - now())}`
  return 'run owner-sso login'
}

/** The last refresh and the next one, as far as there is any. */
function refreshes({ state, refreshed_at, refresh_due_at, not_refreshed_since }: AccountStatus): string[] {
  const last = refreshed_at === undefined ? [] : [`refreshed ${duration(now() - refreshed_at)} ago`]
  const isKnown = state === 'valid' && not_refreshed_since === undefined
  const next = isKnown && refresh_due_at !== undefined ? [dueText(refresh_due_at)] : []
  const lines = [...last, ...next].join(', ')
  return lines === '' ? [] : [lines]
}

function dueText(at: number): string {
  return at > now() ? `next refresh in ${duration(at - now())}` : 'next refresh when it is next used'
}

const now = (): number => Date.now() / 1000

/** Whole seconds until the access token ends, none below 0; undefined where there is no token. */
function secondsLeft({ expires_at }: TokenStatus): number | undefined {
  return expires_at === undefined ? undefined : Math.max(0, Math.floor(expires_at - now()))
}
