/**
 * `owner-sso status`: every account with its state, the time left, its refreshes, its region, and the store.
 */
import { accountName, refusalAdvice, type TokenStatus } from '@owner-sso/core'
import { accountNames } from '../tokens/account.ts'
import type { Call } from '../manual/command.ts'
import type { status } from '../manual/manual.ts'
import { exitCodes } from '../failure/command-error.ts'
import { printData, printJson, printNote } from '../terminal/output.ts'
import type { Settings } from '../settings/settings.ts'
import { type AccountStatus, secondsLeft, statusTable } from './status-table.ts'
import { type TokenKeeping, withTokens } from '../tokens/token-keeping.ts'

export async function run({ settings }: Call<typeof status>): Promise<number> {
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
}

/** Those that can be read, and why the others can't. */
interface Statuses {
  readonly accounts: readonly AccountStatus[]
  readonly failure: unknown
}

async function statuses({ account }: Settings, { tokens }: TokenKeeping): Promise<Statuses> {
  const { names, failure } =
    account === undefined ? await accountNames(tokens) : { names: [accountName(account.value)], failure: undefined }
  const accounts = await Promise.all(names.map(async (name) => ({ account: name, ...(await tokens.status(name)) })))
  return { accounts, failure }
}

function forPrograms(status: AccountStatus): object {
  return { ...status, seconds_left: secondsLeft(status), advice: refusalAdvice(status) }
}

function needsSignIn({ state }: TokenStatus): boolean {
  return state === 'signed-out' || state === 'reauthentication-required'
}
