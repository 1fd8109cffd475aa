/**
 * `owner-sso import`: takes over the tokens that another program has kept. Sends nothing, unless a check is wished.
 */
import { DuplicateTokenSetError, isSubjectAccount, SessionExistsError, type Sso } from '@owner-sso/core'
import { CommandError, usageError } from '../failure/command-error.ts'
import { serviceOf } from '../settings/configured-service.ts'
import { counted, duration } from '../terminal/wording.ts'
import { failureOf } from '../terminal/failure.ts'
import { stopped } from '../failure/interruption.ts'
import { type Candidate, candidateOf, nameOf } from '../moving/candidate.ts'
import { isSealed } from '../moving/export-file.ts'
import { unsealed } from '../moving/export-secret.ts'
import { type Found, isExportFile, knownShapes, parsed, readShape } from '../moving/shapes.ts'
import { printJson, printNote } from '../terminal/output.ts'
import { localTime } from '../terminal/local-time.ts'
import { askConsent, askEmail, canAsk } from '../terminal/prompts.ts'
import { brokenLine } from '../settings/broken-json.ts'
import { nameOf as nameOfFile, textFromFile } from '../settings/secrets.ts'
import type { Settings } from '../settings/settings.ts'
import { type TokenKeeping, withTokens } from '../tokens/token-keeping.ts'
import { flag, type OptionsOf } from '../options/option.ts'
import { defineCommand } from './command.ts'

/** So many accounts, and so many problems, are shown one by one. */
const shown = 20

interface Work extends TokenKeeping {
  readonly settings: Settings
  readonly options: ImportFlags
  /** The account, as the person names it. */
  readonly named: string | undefined
  readonly problems: CommandError[]
}

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
    await withTokens(
      settings,
      sso,
      async ({ tokens, store }) => {
        const named = settings.account?.value ?? (await askedName(found, settings, options))
        const work: Work = { settings, options, tokens, store, named, problems: [] }
        const candidates = await judged(found, sso, work)
        if (candidates.length > 0 && !options.dryRun) await store.requireWritable()
        tell(found, candidates, work)
        const before = work.problems.length
        const imported = (await isAgreed(candidates, work)) ? await takeOver(candidates, work) : []
        if (candidates.length + before > 1) tellProblems(work.problems.slice(before))
        if (settings.json) await printJson(factsOf(found, candidates, imported, work))
        endOf(candidates, imported, work)
      },
      { signsIn: options.dryRun !== true },
    )
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

/** Those that can be taken over; the others become problems. */
async function judged(found: Found, sso: Sso, { named, options, tokens, problems }: Work): Promise<Candidate[]> {
  const isAlone = found.tokens.length === 1
  const candidates: Candidate[] = []
  for (const one of found.tokens) {
    try {
      const candidate = await candidateOf(one, isAlone ? named : undefined, sso, Date.now() / 1000)
      const { state } = await tokens.status(candidate.account)
      if (!options.replace && isLiving(state)) throw new SessionExistsError()
      candidates.push(candidate)
    } catch (error) {
      problems.push(problemOf(error, one.account ?? one.owner))
    }
  }
  return candidates
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

function tell({ shape, others }: Found, candidates: readonly Candidate[], { store, problems }: Work): void {
  const all = counted(candidates.length + problems.length, 'account')
  const [none, some] = ['none of which can be imported', `${candidates.length} of which can be imported`]
  const which = candidates.length === 0 ? `, ${none}` : problems.length > 0 ? `, ${some}` : ' to import'
  printNote(`Found (${shape}): ${all}${which} into ${store.shown}${candidates.length > 0 ? ':' : '.'}`)
  const now = Date.now() / 1000
  for (const { account, grant, issuedAt } of candidates.slice(0, shown)) {
    const age = issuedAt === undefined ? 'age unknown' : `${duration(now - issuedAt)} old`
    const works = grant.expires_at === undefined ? '' : `  works until ${localTime(grant.expires_at)}`
    printNote(`  ${account}  ${new URL(grant.auth_url).host}  ${age}${works}`)
  }
  if (candidates.length > shown) printNote(`  and ${candidates.length - shown} more`)
  if (others > 0) printNote(`${others} other ${others === 1 ? 'entry has' : 'entries have'} no refresh token.`)
  if (candidates.length + problems.length > 1) tellProblems(problems)
}

function tellProblems(problems: readonly CommandError[]): void {
  for (const { message, next } of problems.slice(0, shown)) printNote(`  not imported: ${message} ${next}`)
  if (problems.length > shown) printNote(`  and ${problems.length - shown} more`)
}

async function isAgreed(candidates: readonly Candidate[], { settings, options }: Work): Promise<boolean> {
  if (candidates.length === 0 || options.dryRun) return false
  if (options.yes) return true
  if (!canAsk(settings)) {
    throw usageError('Nobody can be asked here, so nothing was stored.', 'Agree with --yes, or look with --dry-run.')
  }
  printNote('A refresh token works once: from now on no other program may use them.')
  return askConsent(`Store ${candidates.length === 1 ? 'it' : 'them'}?`)
}

/** @returns the accounts that were stored and, where that was wished, checked */
async function takeOver(candidates: readonly Candidate[], work: Work): Promise<string[]> {
  const { options, tokens, problems } = work
  const imported: string[] = []
  for (const candidate of candidates) {
    const { account, grant, subject } = candidate
    if (stopped.aborted) break
    try {
      await tokens.save(account, grant, { replace: options.replace ?? false }).catch((error: unknown) => {
        const isStored = error instanceof DuplicateTokenSetError && error.account === subject
        throw isStored && subject !== undefined ? storedBefore(subject) : error
      })
      if (options.check) await tokens.refresh(account, { signal: stopped })
      imported.push(account)
    } catch (error) {
      problems.push(problemOf(error, account))
    }
  }
  return imported
}

/**
 * Tokens that were imported before under the subject that they tell stay there: to move them would end and begin a session in two
 * writes, and a crash between them would lose it.
 */
function storedBefore(subject: string): CommandError {
  return usageError(
    `These tokens are stored already, as ${subject}.`,
    `Use them by that name: --account ${subject}. For the e-mail as the name, sign in: owner-sso login --account E-MAIL`,
  )
}

function factsOf(found: Found, candidates: readonly Candidate[], imported: readonly string[], work: Work): object {
  return {
    shape: found.shape,
    store: work.store.shown,
    accounts: candidates.map(({ account, grant, issuedAt }) => ({
      account,
      auth_url: grant.auth_url,
      issued_at: issuedAt,
      expires_at: grant.expires_at,
      imported: imported.includes(account),
    })),
    problems: work.problems.map(({ code, message, next }) => ({ code, message, next })),
  }
}

/** @throws CommandError where something could not be taken over */
function endOf(candidates: readonly Candidate[], imported: readonly string[], { options, problems }: Work): void {
  const [problem, ...others] = problems
  if (imported.length > 0) {
    const works = candidates.some(
      ({ account, grant }) => imported.includes(account) && grant.access_token !== undefined,
    )
    const next = works ? 'an access token that still works is used first' : 'the first use refreshes'
    const how = options.check ? 'imported, and refreshed once' : `imported; ${next}`
    printNote(`${counted(imported.length, 'account')} ${how}. No other program may use these tokens from now on.`)
    const [only] = imported
    if (imported.length === 1 && only !== undefined && isSubjectAccount(only))
      printNote(`The input names no e-mail. Use the tokens as --account ${only}.`)
  } else if (problem === undefined) printNote('Nothing was stored.')
  if (problem === undefined) return
  if (others.length === 0 && candidates.length <= 1) throw problem
  const next = `Each is named above, with what helps. ${imported.length > 0 ? 'What was imported stays. ' : ''}One account alone: --account E-MAIL`
  throw new CommandError(
    problem.exitCode,
    `${counted(problems.length, 'account')} could not be imported.`,
    next,
    problem.code,
  )
}
