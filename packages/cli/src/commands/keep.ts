/**
 * `owner-sso keep`: no account of the store loses its session because nobody calls.
 */
import {
  type KeeperEvent,
  type KeeperOptions,
  type KeepOptions,
  keepSignedIn,
  type SweepCounts,
  sweepOnce,
  type TokenManager,
} from '@owner-sso/core'
import type { Call, CommandOptions } from '../call.ts'
import { exitCodes, usageError } from '../command-error.ts'
import { refreshService } from '../configured-service.ts'
import { stopped, untilStopped } from '../interruption.ts'
import { printData, printNote } from '../output.ts'
import { type ProgressBar, progressBar } from '../progress-bar.ts'
import { timeSpan } from '../time-span.ts'
import { withTokens } from '../token-keeping.ts'

export async function run({ settings, options }: Call): Promise<number> {
  const keeping = keepOptionsOf(options)
  const every = options.every === undefined ? undefined : timeSpan('--every', options.every)
  if (options.once && every !== undefined) throw usageError('--once makes one sweep alone.', 'Omit --every.')
  const teller = settings.json ? jsonTeller() : lineTeller()
  let exitCode: number = exitCodes.ok
  await withTokens(settings, refreshService(settings), async ({ tokens }) => {
    const accounts = accountTeller(tokens, teller)
    const onSweep = (event: KeeperEvent): void => {
      accounts.sweep(event)
      teller.sweep(event)
    }
    try {
      const all = { ...keeping, onSweep }
      if (options.once) exitCode = await once(tokens, all, teller)
      else await untilTold(tokens, { ...all, every })
    } catch (error) {
      throw inWordsOf(error)
    } finally {
      accounts.end()
      await teller.end()
    }
  })
  return exitCode
}

/** @throws CommandError for a span of time that is none, and where they don't go together */
function keepOptionsOf({ within, refreshTokenLifetime }: CommandOptions): KeepOptions {
  return {
    within: within === undefined ? undefined : timeSpan('--within', within),
    refreshTokenLifetime:
      refreshTokenLifetime === undefined ? undefined : timeSpan('--refresh-token-lifetime', refreshTokenLifetime),
  }
}

async function untilTold(tokens: TokenManager, options: KeeperOptions): Promise<void> {
  const keeper = keepSignedIn(tokens, options)
  await untilStopped()
  await keeper.stop()
}

/** Exit code 7 where something was due and nothing of it could be refreshed: whoever scheduled it wants to know. */
async function once(tokens: TokenManager, options: KeepOptions, teller: Teller): Promise<number> {
  const result = await sweepOnce(tokens, { ...options, signal: stopped })
  if (!result.swept && !stopped.aborted) teller.say('Another process keeps these accounts signed in at the moment.')
  return result.failed > 0 && result.refreshed === 0 ? exitCodes.network : exitCodes.ok
}

/** Core names the option that is wrong; a person finds it under the same name. */
function inWordsOf(error: unknown): unknown {
  if (!(error instanceof TypeError) || !/^(?:within|every|refreshTokenLifetime|store)\b/u.test(error.message))
    return error
  return usageError(`${error.message}.`, 'See owner-sso keep --help.')
}

/** What is said of the work: lines for people, or a line of JSON for each event. */
interface Teller {
  readonly sweep: (event: KeeperEvent) => void
  readonly say: (text: string, facts?: Readonly<Record<string, unknown>>) => void
  /** @throws CommandError where something could not be written */
  readonly end: () => Promise<void> | void
}

/** Names each account that something is to be told of: once, whatever failed, and also where nothing was tried. */
function accountTeller(tokens: TokenManager, { say }: Teller): { sweep: Teller['sweep']; end: () => void } {
  const named = new Set<string>()
  const tellOf = (account: string, error: Error): void => {
    const code = 'code' in error ? String(error.code) : error.name
    say(`${account}: ${code}: ${error.message}`, { account, code })
  }
  const ends = [
    tokens.on('reauthentication-required', ({ account, reason }) =>
      say(`${account} has to sign in again (${reason}): owner-sso login`, { account, reason }),
    ),
    tokens.on('refresh-failed', ({ account, error }) => {
      named.add(account)
      tellOf(account, error)
    }),
  ]
  return {
    sweep({ phase, account = '', error }) {
      if (phase !== 'progress') return
      const isNamed = named.delete(account)
      if (error !== undefined && !isNamed) tellOf(account, error)
    },
    end: () => ends.forEach((end) => end()),
  }
}

/** On a terminal with a bar; a service's log gets the time from whoever keeps it. */
function lineTeller(): Teller {
  let bar: ProgressBar | undefined
  const endBar = (): void => {
    bar?.end()
    bar = undefined
  }
  const say = (text: string): void => {
    endBar()
    printNote(text)
  }
  return {
    say,
    end: endBar,
    sweep(event) {
      if (event.phase === 'surveyed' && event.due > 0) {
        say(`${counted(event.accounts, 'account')}, ${event.due} due.`)
        bar = progressBar('Refreshing', event.due)
      }
      if (event.phase === 'progress') bar?.advance()
      if (event.phase !== 'ended') return
      if (event.error !== undefined) say(`The sweep was broken off: ${event.error.message}`)
      say(`${summary(event)}${nextOf(event)}`)
    },
  }
}

/** One line after the other. That one can't be written ends no sweep: it is told at the end. */
function jsonTeller(): Teller {
  let written = Promise.resolve()
  let failure: { readonly error: unknown } | undefined
  const print = (facts: object): void => {
    written = written
      .then(() => printData(JSON.stringify(facts)))
      .catch((error: unknown) => void (failure ??= { error }))
  }
  return {
    async end() {
      await written
      if (failure !== undefined) throw failure.error
    },
    say: (text, facts = { note: text }) => print(facts),
    sweep: ({ error, ...facts }) => print(error === undefined ? facts : { ...facts, error: error.message }),
  }
}

function summary({ accounts, due, refreshed, failed, signInAgain, unreadable }: SweepCounts): string {
  const parts = [
    `${counted(accounts, 'account')} signed in, ${due} due, ${refreshed} refreshed`,
    failed > 0 && `${failed} failed`,
    signInAgain > 0 && `${signInAgain} must sign in again`,
    unreadable > 0 && `${unreadable} unreadable`,
  ]
  return `${parts.filter((part) => part !== false).join(', ')}.`
}

function nextOf({ next_sweep_at: next }: KeeperEvent): string {
  return next === undefined ? '' : ` Next at ${new Date(next * 1000).toISOString().slice(0, 19)}Z.`
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
