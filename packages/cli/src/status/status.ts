/**
 * `owner-sso status`: every account with its state, the time left, its refreshes, its region, and the store.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { accountName, overdueAdvice, refusalAdvice, type TokenStatus } from '@owner-sso/core'
import { accountNames } from '../tokens/account.ts'
import type { Call } from '../manual/command.ts'
import type { status } from '../manual/manual.ts'
import { exitCodes, usageError } from '../failure/command-error.ts'
import { failureOf } from '../terminal/failure.ts'
import { stopped } from '../failure/interruption.ts'
import { type Line, printData, printJson, printNote } from '../terminal/output.ts'
import type { Settings } from '../settings/settings.ts'
import { liveScreen } from './live-screen.ts'
import { type AccountStatus, secondsLeft, statusTable } from './status-table.ts'
import { type TokenKeeping, withTokens } from '../tokens/token-keeping.ts'

/** Milliseconds between two drawings of `--watch`. */
const drawnEvery = 1000

export async function run({ settings, options }: Call<typeof status>): Promise<number> {
  if (options.watch === true) requireTerminal(settings)
  const show = async (keeping: TokenKeeping): Promise<number> => {
    const shown = ({ accounts, failure }: Statuses): Line[] => [
      ...(accounts.length > 0 ? statusTable(accounts) : ['Nobody is signed in. Sign in with: owner-sso login']),
      '',
      `Store: ${keeping.store.shown}`,
      ...(failure === undefined ? [] : [`Not all of it can be read: ${failureOf(failure).message}`]),
    ]
    if (options.watch === true) await watch(async () => shown(await statuses(settings, keeping)))
    const { accounts, failure } = await statuses(settings, keeping)
    if (failure !== undefined && accounts.length === 0) throw failure
    if (settings.json) await printJson({ store: keeping.store.shown, accounts: accounts.map(forPrograms) })
    else if (accounts.length > 0) await printData(...shown({ accounts, failure: undefined }))
    else printNote(`Nobody is signed in at ${keeping.store.shown}. Sign in with: owner-sso login`)
    if (failure !== undefined) throw failure
    return settings.account !== undefined && accounts.some(needsSignIn) ? exitCodes.signInAgain : exitCodes.ok
  }
  // Whoever signs in while it watches is to be seen.
  const makesStore = options.watch === true && settings.store.from === 'default'
  return withTokens(settings, undefined, show, { makesStore })
}

/** @throws CommandError where the output is no terminal, or for a program */
function requireTerminal({ json }: Settings): void {
  if (process.stdout.isTTY && !json) return
  throw usageError('--watch draws on a terminal.', 'For a program or a pipe, run it without: owner-sso status --json')
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

/** Draws until Ctrl-C; what stood on the terminal before is there again then. */
async function watch(look: () => Promise<Line[]>): Promise<void> {
  const screen = liveScreen(process.stdout)
  try {
    while (!stopped.aborted) {
      screen.draw([...(await look()), '', 'Ctrl-C ends it.'])
      await pause(drawnEvery, undefined, { signal: stopped }).catch(() => undefined)
    }
  } finally {
    screen[Symbol.dispose]()
  }
}

function forPrograms(status: AccountStatus): object {
  return { ...status, seconds_left: secondsLeft(status), advice: refusalAdvice(status) ?? overdueAdvice(status) }
}

function needsSignIn({ state }: TokenStatus): boolean {
  return state === 'signed-out' || state === 'reauthentication-required'
}
