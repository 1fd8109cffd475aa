/**
 * `owner-sso status`: every account with its state, the time left, its region, and the store.
 */
import { accountName, type TokenStatus } from '@owner-sso/core'
import { accountNames } from '../account.ts'
import type { Call } from '../call.ts'
import { exitCodes } from '../command-error.ts'
import { duration } from '../duration.ts'
import { lifeBar } from '../life-bar.ts'
import { type Line, printData, printJson, printNote } from '../output.ts'
import { withTokens } from '../token-keeping.ts'
import { visible } from '../visible-text.ts'

interface AccountStatus extends TokenStatus {
  readonly account: string
}

export async function run({ settings }: Call): Promise<number> {
  return withTokens(settings, undefined, async ({ tokens, store }) => {
    const named = settings.account && accountName(settings.account.value)
    const names = named === undefined ? await accountNames(tokens) : [named]
    const accounts: AccountStatus[] = []
    for (const account of names) accounts.push({ account, ...(await tokens.status(account)) })

    if (settings.json) await printJson({ store: store.shown, accounts: accounts.map(forPrograms) })
    else if (accounts.length > 0) await printData(...table(accounts), '', `Store: ${store.shown}`)
    else printNote(`Nobody is signed in at ${store.shown}. Sign in with: owner-sso login`)
    return named !== undefined && accounts.some(needsSignIn) ? exitCodes.signInAgain : exitCodes.ok
  })
}

const words: Record<TokenStatus['state'], readonly [text: string, colour: 'green' | 'yellow' | 'red']> = {
  valid: ['valid', 'green'],
  expired: ['expired', 'yellow'],
  'in-doubt': ['in doubt', 'yellow'],
  'signed-out': ['signed out', 'red'],
  'reauthentication-required': ['sign in again', 'red'],
}

function table(accounts: readonly AccountStatus[]): Line[] {
  const rows = accounts.map((status) => ({ ...cells(status), colour: words[status.state][1] }))
  const wide = (column: 'account' | 'state' | 'life'): number => Math.max(...rows.map((row) => row[column].length))
  const [account, state, life] = [wide('account'), wide('state'), wide('life')]
  return rows.map((row) => [
    `${row.account.padEnd(account)}  `,
    { format: row.colour, text: `${row.state.padEnd(state)}  ` },
    { format: row.colour, text: row.region === '' ? row.life : `${row.life.padEnd(life)}  ` },
    row.region,
  ])
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

/** What can be said of it in few words. */
function remark({ state, reason, next_attempt_at }: AccountStatus, left: number): string {
  if (state === 'valid') return `${duration(left)} left`
  if (state === 'expired') return 'refreshed when next used'
  if (state === 'in-doubt') return `replayed in ${duration((next_attempt_at ?? 0) - Date.now() / 1000)}`
  return reason === undefined ? 'run owner-sso login' : `run owner-sso login (${reason.replaceAll('_', ' ')})`
}

function forPrograms(status: AccountStatus): object {
  return { ...status, seconds_left: secondsLeft(status) }
}

function secondsLeft({ expires_at }: AccountStatus): number | undefined {
  return expires_at === undefined ? undefined : Math.max(0, Math.floor(expires_at - Date.now() / 1000))
}

function needsSignIn({ state }: AccountStatus): boolean {
  return state === 'signed-out' || state === 'reauthentication-required'
}
