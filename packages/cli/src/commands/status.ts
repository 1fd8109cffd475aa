/**
 * `owner-sso status`: every account with its state, the time left, its refreshes, its region, and the store.
 */
import { overdueAdvice, refusalAdvice, type TokenStatus, visible, type Why } from '@owner-sso/core'
import { duration, likely, localTime } from '../terminal/wording.ts'
import { type Line, printData, printJson, printNote } from '../terminal/output.ts'
import { accountNames, namedAccount } from '../tokens/account.ts'
import { exitCodes } from '../failure/command-error.ts'
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
    const { account, json } = settings
    return withTokens(settings, undefined, async ({ tokens, store: { shown } }) => {
      const { names, failure } =
        account === undefined
          ? await accountNames(tokens)
          : { names: [namedAccount(account.value)], failure: undefined }
      const accounts = await Promise.all(names.map((name) => statusOf(name, tokens)))
      if (failure !== undefined && accounts.length === 0) throw failure
      if (json) await printJson({ store: shown, accounts: accounts.map(forPrograms) })
      else if (accounts.length > 0) await printData(...statusTable(accounts), '', `Store: ${shown}`)
      else printNote(`Nobody is signed in at ${shown}. Sign in with: owner-sso login`)
      if (failure !== undefined) throw failure
      return account !== undefined && accounts.some(needsSignIn) ? exitCodes.signInAgain : exitCodes.ok
    })
  },
})

interface AccountStatus extends TokenStatus {
  readonly account: string
  readonly why: Why
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
  const rows = accounts.map((status) => {
    const [state, colour] = words[status.state]
    const region = status.auth_url === undefined ? '' : new URL(status.auth_url).host
    return { status, state, colour, account: visible(status.account), life: lifeOf(status), region }
  })
  const wide = (column: 'account' | 'state' | 'life'): number => Math.max(...rows.map((row) => row[column].length))
  const [account, state, life] = [wide('account'), wide('state'), wide('life')]
  const below = (format: 'dim' | 'yellow', text: string | undefined): Line[] =>
    text === undefined ? [] : [[{ format, text: `${' '.repeat(account + 2)}${text}` }]]
  return rows.flatMap(({ status, colour, ...row }): Line[] => [
    [
      `${row.account.padEnd(account)}  `,
      { format: colour, text: `${row.state.padEnd(state)}  ` },
      { format: colour, text: row.region === '' ? row.life : `${row.life.padEnd(life)}  ` },
      row.region,
    ],
    ...below('dim', refreshes(status)),
    ...below('yellow', problemOf(status)),
  ])
}

function problemOf(status: AccountStatus): string | undefined {
  const overdue = overdueAdvice(status, localTime)
  if (overdue !== undefined || status.why.cause === 'signed-in') return overdue
  return refusalAdvice(status, localTime) ?? likely(status.why)
}

/** A bar, `█` for what is left and `░` for what is gone, both counted so that any time left shows; and what can be said of it. */
function lifeOf(status: AccountStatus): string {
  const left = secondsLeft(status)
  if (left === undefined || status.state === 'reauthentication-required') return remark(status, 0)
  const lifetime = (status.expires_at ?? 0) - (status.obtained_at ?? 0)
  const filled = lifetime > 0 ? Math.ceil(Math.min(1, left / lifetime) * barWidth) : 0
  return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}  ${remark(status, left)}`
}

function remark({ state, next_attempt_at, not_refreshed_since }: AccountStatus, left: number): string {
  if (state === 'valid') return `${duration(left)} left`
  if (state === 'expired') return not_refreshed_since === undefined ? 'refreshed when next used' : 'not refreshed'
  if (state === 'in-doubt')
    return next_attempt_at === undefined ? 'replayed elsewhere' : `replayed in ${duration(next_attempt_at - now())}`
  return 'run owner-sso login'
}

function refreshes({ state, refreshed_at, refresh_due_at, not_refreshed_since }: AccountStatus): string | undefined {
  const told = refreshed_at === undefined ? [] : [`refreshed ${duration(now() - refreshed_at)} ago`]
  if (state === 'valid' && not_refreshed_since === undefined && refresh_due_at !== undefined) {
    const wait = refresh_due_at - now()
    told.push(wait > 0 ? `next refresh in ${duration(wait)}` : 'next refresh when it is next used')
  }
  return told.length === 0 ? undefined : told.join(', ')
}

const now = (): number => Date.now() / 1000

/** Whole seconds until the access token ends, none below 0; undefined where there is no token. */
function secondsLeft({ expires_at }: TokenStatus): number | undefined {
  return expires_at === undefined ? undefined : Math.max(0, Math.floor(expires_at - now()))
}
