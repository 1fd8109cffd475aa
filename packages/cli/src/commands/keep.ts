/**
 * `owner-sso keep`: no account of the store loses its session because nobody calls.
 */
import { type KeeperEvent, keepSignedIn, SsoError, sweepOnce, type TokenManager } from '@owner-sso/core'
import { exitCodes, usageError } from '../failure/command-error.ts'
import { requireRefreshHere, serviceOf } from '../settings/configured-service.ts'
import { stopped, untilStopped } from '../failure/interruption.ts'
import { timeSpan } from '../settings/option-values.ts'
import { failureOf } from '../terminal/failure.ts'
import { printNote } from '../terminal/output.ts'
import { counted, localTime } from '../terminal/wording.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { flag, value } from '../options/option.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'keep',
  summary: 'keep all accounts signed in',
  description:
    'Runs until Ctrl-C or SIGTERM. Looks at all accounts of the store again and again, and refreshes those whose ' +
    'session soon ends because nobody calls: the soonest first, at an even pace. Several may run, on several ' +
    'machines: one works at a time. A time is a number with its unit: 90s, 15m, 2h, 30d. --once makes one sweep ' +
    'and ends, for cron.',
  options: {
    within: value('<time>', 'refresh sessions that end within this time (default: 2h)'),
    every: value('<time>', 'from one sweep to the next; at most a quarter of --within (default: an eighth of it)'),
    refreshTokenLifetime: value('<time>', 'how long a refresh token lives unused, if you know it'),
    once: flag('one sweep, without pauses between its refreshes'),
  },
  examples: [
    ['owner-sso keep', 'in a service: see docs/guides/unattended-scripts.md'],
    ['owner-sso keep --within 2d --refresh-token-lifetime 30d', 'far fewer refreshes'],
    ['owner-sso keep --once --within 6h', 'in a crontab, every three hours'],
  ],
  async run({ settings, options: { within, every, refreshTokenLifetime, once } }) {
    requireRefreshHere(settings)
    if (once && every !== undefined) throw usageError('--once makes one sweep alone.', 'Omit --every.')
    const keeping = {
      within: timeSpan('--within', within),
      refreshTokenLifetime: timeSpan('--refresh-token-lifetime', refreshTokenLifetime),
    }
    const pace = timeSpan('--every', every)
    let exitCode: number = exitCodes.ok
    const sweep = async (tokens: TokenManager): Promise<void> => {
      const teller = tellerOf(tokens)
      const told = { ...keeping, onSweep: teller.onSweep }
      try {
        if (once) {
          const { swept, failed, refreshed } = await sweepOnce(tokens, { ...told, signal: stopped })
          if (!swept && !stopped.aborted) printNote('Another process keeps these accounts signed in at the moment.')
          // Whoever scheduled it wants to know that something was due and nothing of it could be refreshed.
          if (failed > 0 && refreshed === 0) exitCode = exitCodes.network
        } else {
          const keeper = keepSignedIn(tokens, { ...told, every: pace })
          await untilStopped()
          await keeper.stop()
        }
      } catch (error) {
        throw inWordsOf(error)
      } finally {
        teller.end()
      }
    }
    // The first sign-in may come later, into what this looks at until then.
    await withTokens(settings, serviceOf(settings), ({ tokens }) => sweep(tokens), { makesStore: once !== true })
    return exitCode
  },
})

/** Core names the option that is wrong; a person finds it under the same name. */
function inWordsOf(error: unknown): unknown {
  if (!(error instanceof TypeError) || !/^(?:within|every|refreshTokenLifetime|store)\b/u.test(error.message))
    return error
  return usageError(`${error.message}.`, 'See owner-sso keep --help.')
}

/** Says how each sweep goes, and names each account that something is to be told of: once, also where nothing was tried. */
function tellerOf(tokens: TokenManager): { onSweep: (event: KeeperEvent) => void; end: () => void } {
  const named = new Set<string>()
  const ends = [
    tokens.on('reauthentication-required', ({ account, reason }) =>
      printNote(`${account} has to sign in again (${reason}): owner-sso login`),
    ),
    tokens.on('refresh-failed', ({ account, error }) => {
      named.add(account)
      tellOf(account, error)
    }),
  ]
  return {
    onSweep(event) {
      const { phase, account = '', error, accounts, due, refreshed, failed, signInAgain, unreadable } = event
      const all = counted(accounts, 'account')
      if (phase === 'progress' && !named.delete(account) && error !== undefined) tellOf(account, error)
      if (phase === 'surveyed' && due > 0) printNote(`${all}, ${due} due.`)
      if (phase !== 'ended') return
      if (error !== undefined) printNote(`The sweep was broken off: ${wordsOf(error)}`)
      const parts = [
        `${all} signed in, ${due} due, ${refreshed} refreshed`,
        ...(failed > 0 ? [`${failed} failed`] : []),
        ...(signInAgain > 0 ? [`${signInAgain} must sign in again`] : []),
        ...(unreadable > 0 ? [`${unreadable} unreadable`] : []),
      ]
      const next = event.next_sweep_at === undefined ? '' : ` Next at ${localTime(event.next_sweep_at)}.`
      printNote(`${parts.join(', ')}.${next}`)
    },
    end: () => ends.forEach((end) => end()),
  }
}

const tellOf = (account: string, error: Error): void =>
  printNote(`${account}: ${'code' in error ? String(error.code) : error.name}: ${wordsOf(error)}`)

/** An error of ours as the command says it, with what helps and times of this machine. */
function wordsOf(error: Error): string {
  if (!(error instanceof SsoError)) return error.message
  const { message, next } = failureOf(error)
  return `${message} ${next}`
}
