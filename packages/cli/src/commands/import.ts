/**
 * `owner-sso import`: takes over the tokens that another program has kept. Sends nothing, unless a check is wished.
 */
import { isSubjectAccount, SessionExistsError } from '@owner-sso/core'
import { CommandError, usageError } from '../failure/command-error.ts'
import { serviceOf } from '../settings/configured-service.ts'
import { counted, duration, localTime } from '../terminal/wording.ts'
import { failureOf } from '../terminal/failure.ts'
import { stopped } from '../failure/interruption.ts'
import { type Candidate, candidateOf, nameOf } from '../moving/candidate.ts'
import { isSealed, unsealed } from '../moving/export-file.ts'
import { type Found, isExportFile, knownShapes, parsed, readShape } from '../moving/shapes.ts'
import { printJson, printNote } from '../terminal/output.ts'
import { askConsent, askEmail, canAsk } from '../terminal/prompts.ts'
import { brokenLine } from '../settings/config-file.ts'
import { nameOf as nameOfFile, textFromFile } from '../settings/secrets.ts'
import type { Settings } from '../settings/settings.ts'
import { type TokenKeeping, withTokens } from '../tokens/token-keeping.ts'
import { flag, type OptionsOf } from '../options/option.ts'
import { defineCommand } from './command.ts'

const importOptions = {
  dryRun: flag('only show what would be imported'),
  yes: flag('store without asking'),
  replace: flag('end the sign-in that an account has here'),
  check: flag('make one refresh of each account, to see that its tokens work'),
}

type ImportFlags = OptionsOf<typeof importOptions>

export const command = defineCommand({
  name: 'import',
  args: '[file]',
  summary: 'take over the tokens of another program',
  description:
    'Reads a refresh token, a token response, what owner-sso export wrote, or the cache of another client: JSON ' +
    'keyed by account. Shows what it found, without a secret, and asks before it stores. Sends nothing: an access token ' +
    'beside it is used while it lives, then the refresh token. No other program may use the tokens from then on. Without a file, or for -, it reads standard ' +
    'input.',
  options: importOptions,
  examples: [
    ['owner-sso import cache.json', 'all accounts of another client'],
    ['owner-sso import --account ann@example.com --yes < refresh-token.txt', 'a refresh token alone'],
  ],
  async run({ settings, options, args }) {
    const sso = serviceOf(settings)
    const found = meant(await foundIn(args[0], settings), settings)
    const takeAll = async ({ tokens, store }: TokenKeeping): Promise<void> => {
      const named = settings.account?.value ?? (await askedName(found, settings, options))
      const problems: CommandError[] = []
      const candidates: Candidate[] = []
      const goOn = async (account: string | undefined, act: () => Promise<void>): Promise<void> =>
        act().catch((error: unknown) => void problems.push(problemOf(error, account)))
      for (const one of found.tokens) {
        await goOn(one.account ?? one.owner, async () => {
          const candidate = await candidateOf(one, found.tokens.length === 1 ? named : undefined, sso)
          const { state } = await tokens.status(candidate.account)
          if (!options.replace && isLiving(state)) throw new SessionExistsError()
          candidates.push(candidate)
        })
      }
      if (candidates.length > 0 && !options.dryRun) await store.requireWritable()
      tell(found, candidates, problems.length, store.shown)
      const tellProblems = (from: number): void => {
        if (found.tokens.length === 1) return
        printNote(...problems.slice(from).map(({ message, next }) => `  not imported: ${message} ${next}`))
      }
      tellProblems(0)
      const told = problems.length
      const imported: string[] = []
      for (const { account, grant } of (await isAgreed(candidates, settings, options)) ? candidates : []) {
        if (stopped.aborted) break
        await goOn(account, async () => {
          await tokens.save(account, grant, { replace: options.replace ?? false })
          if (options.check) await tokens.refresh(account, { signal: stopped })
          imported.push(account)
        })
      }
      tellProblems(told)
      if (settings.json) {
        const untaken = problems.map(({ code, message, next }) => ({ code, message, next }))
        const names = candidates.map(({ account }) => account)
        await printJson({ shape: found.shape, found: names, imported, problems: untaken })
      }
      if (imported.length > 0 || problems.length === 0) tellEnd(candidates, imported, options)
      throwFirst(problems, found.tokens.length === 1)
    }
    await withTokens(settings, sso, takeAll, { signsIn: options.dryRun !== true })
  },
})

async function foundIn(file: string | undefined, settings: Settings): Promise<Found> {
  if (file === undefined && process.stdin.isTTY) throw usageError('No file was named.', 'owner-sso import FILE')
  const path = file ?? '-'
  const text = await textFromFile(path, 'the argument')
  if (text.trim() === '') throw usageError(`${nameOfFile(path)} is empty.`, 'Name the file: owner-sso import FILE')
  const json = parsed(text)
  const isClosed = isExportFile(json) && isSealed(json.sealed)
  const found = readShape(isClosed ? JSON.stringify(await unsealed(json.sealed, settings)) : text)
  if (found !== undefined) return found
  if (/^\s*[[{]/u.test(text) && json === undefined) {
    const next = 'Correct it there, or let the other program write it again.'
    throw usageError(`The input is broken JSON, from line ${brokenLine(text)} on.`, next)
  }
  throw usageError('No refresh token was found in this input.', `Known are: ${knownShapes.join('; ')}.`)
}

/** Of several accounts the one that was named. @throws CommandError where it is not among them */
function meant(found: Found, { account: named }: Settings): Found {
  if (named === undefined || found.tokens.length === 1) return found
  const name = nameOf(named.value)
  const tokens = found.tokens.filter(({ account, owner }) => nameOf(account ?? owner ?? '') === name)
  if (tokens.length > 0) return { ...found, tokens }
  throw usageError(`The input has no tokens of ${name}.`, 'Name one that it has: --account E-MAIL.')
}

/** Tokens often tell a subject alone, which no person knows their account by. */
async function askedName(
  { tokens: [only, ...others] }: Found,
  settings: Settings,
  { yes = false }: ImportFlags,
): Promise<string | undefined> {
  const name = only?.account ?? only?.owner
  const isKnown = name !== undefined && !isSubjectAccount(name)
  if (isKnown || others.length > 0 || yes || !canAsk(settings)) return undefined
  printNote('The input names no e-mail. Whose tokens are they?')
  return askEmail()
}

const isLiving = (state: string): boolean => state === 'valid' || state === 'expired' || state === 'in-doubt'

/** In the words of the command, and with the account where it does not name it already. */
function problemOf(error: unknown, account: string | undefined): CommandError {
  if (error instanceof TypeError)
    return usageError(`${account ?? 'An account'} can’t be imported.`, `${error.message}.`)
  const { exitCode, code, message, next } = failureOf(error)
  const whose = account === undefined || message.includes(account) ? '' : `${account}: `
  return new CommandError(exitCode, `${whose}${message}`, next, code)
}

function tell({ shape, others }: Found, candidates: readonly Candidate[], failed: number, store: string): void {
  const some = candidates.length === 0 ? 'none' : candidates.length
  const which = failed > 0 ? `, ${some} of which can be imported` : ' to import'
  const all = counted(candidates.length + failed, 'account')
  printNote(`Found (${shape}): ${all}${which} into ${store}${candidates.length > 0 ? ':' : '.'}`)
  for (const { account, grant, issuedAt } of candidates) {
    const age = issuedAt === undefined ? 'age unknown' : `${duration(Date.now() / 1000 - issuedAt)} old`
    const works = grant.expires_at === undefined ? '' : `  works until ${localTime(grant.expires_at)}`
    printNote(`  ${account}  ${new URL(grant.auth_url).host}  ${age}${works}`)
  }
  if (others > 0) printNote(`${others} other ${others === 1 ? 'entry has' : 'entries have'} no refresh token.`)
}

async function isAgreed(
  candidates: readonly Candidate[],
  settings: Settings,
  { dryRun, yes }: ImportFlags,
): Promise<boolean> {
  if (candidates.length === 0 || dryRun) return false
  if (yes) return true
  if (!canAsk(settings)) {
    throw usageError('Nobody can be asked here, so nothing was stored.', 'Agree with --yes, or look with --dry-run.')
  }
  printNote('A refresh token works once: from now on no other program may use them.')
  return askConsent(`Store ${candidates.length === 1 ? 'it' : 'them'}?`)
}

function tellEnd(candidates: readonly Candidate[], imported: readonly string[], { check }: ImportFlags): void {
  const [only = ''] = imported
  if (imported.length === 0) return printNote('Nothing was stored.')
  const works = candidates.some(({ account, grant }) => imported.includes(account) && grant.access_token !== undefined)
  const next = works ? 'an access token that still works is used first' : 'the first use refreshes'
  const how = check ? 'imported, and refreshed once' : `imported; ${next}`
  printNote(`${counted(imported.length, 'account')} ${how}. No other program may use these tokens from now on.`)
  if (imported.length === 1 && isSubjectAccount(only))
    printNote(`The input names no e-mail. Use the tokens as --account ${only}.`)
}

function throwFirst([problem, ...others]: readonly CommandError[], isAlone: boolean): void {
  if (problem === undefined) return
  if (isAlone) throw problem
  const message = `${counted(others.length + 1, 'account')} could not be imported.`
  const next = 'Each is named above, with what helps. One account alone: --account E-MAIL'
  throw new CommandError(problem.exitCode, message, next, problem.code)
}
