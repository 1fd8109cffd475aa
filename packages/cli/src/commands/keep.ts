/**
 * `owner-sso keep`: no account of the store loses its session because nobody calls.
 */
import {
  type KeeperEvent,
  type KeeperOptions,
  type KeepOptions,
  keepSignedIn,
  sweepOnce,
  type TokenManager,
} from '@owner-sso/core'
import { exitCodes, usageError } from '../failure/command-error.ts'
import { requireRefreshHere, serviceOf } from '../settings/configured-service.ts'
import { stopped, untilStopped } from '../failure/interruption.ts'
import { timeSpan } from '../settings/option-values.ts'
import { accountTeller, jsonTeller, lineTeller, type Teller } from '../tokens/sweep-teller.ts'
import { type TokenKeeping, withTokens } from '../tokens/token-keeping.ts'
import { flag, type OptionsOf, value } from '../options/option.ts'
import { defineCommand } from './command.ts'

const keepOptions = {
  within: value('<time>', 'refresh sessions that end within this time (default: 2h)'),
  every: value('<time>', 'from one sweep to the next; at most a quarter of --within (default: an eighth of it)'),
  refreshTokenLifetime: value('<time>', 'how long a refresh token lives unused, if you know it'),
  once: flag('one sweep, without pauses between its refreshes'),
}

type KeepFlags = OptionsOf<typeof keepOptions>

export const command = defineCommand({
  name: 'keep',
  summary: 'keep all accounts signed in',
  description:
    'Runs until Ctrl-C or SIGTERM. Looks at all accounts of the store again and again, and refreshes those whose ' +
    'session soon ends because nobody calls: the soonest first, at an even pace. Several may run, on several ' +
    'machines: one works at a time. A time is a number with its unit: 90s, 15m, 2h, 30d. --once makes one sweep ' +
    'and ends, for cron.',
  options: keepOptions,
  examples: [
    ['owner-sso keep', 'in a service: see docs/guides/unattended-scripts.md'],
    ['owner-sso keep --within 2d --refresh-token-lifetime 30d', 'far fewer refreshes'],
    ['owner-sso keep --once --within 6h', 'in a crontab, every three hours'],
  ],
  async run({ settings, options }) {
    requireRefreshHere(settings)
    const keeping = keepOptionsOf(options)
    const every = options.every === undefined ? undefined : timeSpan('--every', options.every)
    if (options.once && every !== undefined) throw usageError('--once makes one sweep alone.', 'Omit --every.')
    const teller = settings.json ? jsonTeller() : lineTeller
    let exitCode: number = exitCodes.ok
    const sweep = async ({ tokens }: TokenKeeping): Promise<void> => {
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
    }
    // The first sign-in may come later, into what this looks at until then.
    await withTokens(settings, serviceOf(settings), sweep, { makesStore: options.once !== true })
    return exitCode
  },
})

/** @throws CommandError for a span of time that is none, and where they don't go together */
function keepOptionsOf({ within, refreshTokenLifetime }: KeepFlags): KeepOptions {
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
