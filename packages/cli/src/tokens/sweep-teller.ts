/**
 * What `owner-sso keep` says of its sweeps: lines for people, or lines of JSON for programs.
 */
import { type KeeperEvent, SsoError, type SweepCounts, type TokenManager } from '@owner-sso/core'
import { failureOf } from '../terminal/failure.ts'
import { printData, printNote } from '../terminal/output.ts'
import { localTime } from '../terminal/local-time.ts'
import { counted } from '../terminal/wording.ts'

/** What is said of the work: lines for people, or a line of JSON for each event. */
export interface Teller {
  readonly sweep: (event: KeeperEvent) => void
  readonly say: (text: string, facts?: Readonly<Record<string, unknown>>) => void
  /** @throws CommandError where something could not be written */
  readonly end: () => Promise<void> | void
}

/** Names each account that something is to be told of: once, whatever failed, and also where nothing was tried. */
export function accountTeller(tokens: TokenManager, { say }: Teller): { sweep: Teller['sweep']; end: () => void } {
  const named = new Set<string>()
  const tellOf = (account: string, error: Error): void => {
    const code = 'code' in error ? String(error.code) : error.name
    say(`${account}: ${code}: ${wordsOf(error)}`, { account, code })
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

/** For people; a service's log gets the time from whoever keeps it. */
export const lineTeller: Teller = {
  say: (text) => printNote(text),
  end: () => undefined,
  sweep(event) {
    if (event.phase === 'surveyed' && event.due > 0)
      printNote(`${counted(event.accounts, 'account')}, ${event.due} due.`)
    if (event.phase !== 'ended') return
    if (event.error !== undefined) printNote(`The sweep was broken off: ${wordsOf(event.error)}`)
    printNote(`${summary(event)}${nextOf(event)}`)
  },
}

/** One line after the other. That one can't be written ends no sweep: it is told at the end. */
export function jsonTeller(): Teller {
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

/** An error of ours as the command says it, with what helps and times of this machine. */
function wordsOf(error: Error): string {
  if (!(error instanceof SsoError)) return error.message
  const { message, next } = failureOf(error)
  return `${message} ${next}`
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
  return next === undefined ? '' : ` Next at ${localTime(next)}.`
}
