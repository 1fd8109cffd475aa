/**
 * `owner-sso export`: refresh tokens for another machine or another program, sealed unless it is said otherwise.
 */
import { writeFile } from 'node:fs/promises'
import { SignedOutError, systemCode } from '@owner-sso/core'
import { accountNames, chosenAccount, requireSignedIn } from '../tokens/account.ts'
import { CommandError, exitCodes, systemError } from '../failure/command-error.ts'
import { expandHome } from '../machine/folders.ts'
import { type ExportedTokens, plainExport, sealedExport } from '../moving/export-file.ts'
import { newSecret } from '../moving/export-secret.ts'
import { printJson, printNote } from '../terminal/output.ts'
import { type TokenKeeping, withTokens } from '../tokens/token-keeping.ts'
import { flag, value } from '../options/option.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'export',
  summary: 'write refresh tokens into a file, sealed',
  description:
    'Writes the refresh token of an account, for owner-sso import on another machine or for another program. It is ' +
    'sealed with the first key of OWNER_SSO_ENCRYPTION_KEY, or with a passphrase that is asked for. Afterwards ' +
    'only one of the two may use it.',
  options: {
    file: value('<path>', 'write a new file that only you can read (default: standard output)'),
    all: flag('all accounts of the store'),
    plainTextTokens: flag('do not seal: whoever reads the output is signed in'),
  },
  examples: [['owner-sso export --account ann@example.com --file ann.json', 'asks for a passphrase']],
  async run({ settings, options }) {
    await withTokens(
      settings,
      undefined,
      async (keeping) => {
        const { tokens } = keeping
        const { names, failure } = options.all
          ? await accountNames(tokens)
          : { names: [await chosenAccount(settings, tokens)], failure: undefined }
        if (failure !== undefined && names.length === 0) throw failure
        const accounts = new Map<string, ExportedTokens>()
        const problems: CommandError[] = []
        for (const name of names) {
          try {
            accounts.set(name, await requireSignedIn(name, tokens, () => exported(name, keeping)))
          } catch (error) {
            if (!(error instanceof CommandError)) throw error
            problems.push(error)
          }
        }
        if (problems.length > 0 && accounts.size === 0) throw leftOut(problems)
        const file = options.plainTextTokens
          ? plainExport(Object.fromEntries(accounts))
          : sealedExport(Object.fromEntries(accounts), ...(await newSecret(settings)))
        if (options.file === undefined) await printJson(file)
        else await writeNewFile(options.file, JSON.stringify(file, undefined, 2))
        tell([...accounts.keys()], options.file, options.plainTextTokens ?? false)
        if (problems.length > 0) throw leftOut(problems)
        if (failure !== undefined) throw failure
      },
      { alsoWithoutKey: true },
    )
  },
})

async function exported(account: string, { store }: TokenKeeping): Promise<ExportedTokens> {
  const record = (await store.store.read(account))?.record
  if (record?.state === 'reauthentication-required') {
    throw new CommandError(
      exitCodes.signInAgain,
      `The refresh token of ${account} is dead (${record.reason.replaceAll('_', ' ')}).`,
      `Sign in with: owner-sso login --account ${account}`,
    )
  }
  if (record?.state !== 'signed-in') throw new SignedOutError()
  if (record.intent !== undefined) {
    throw new CommandError(
      exitCodes.network,
      `A refresh of ${account} is under way or in doubt, so its refresh token may be spent.`,
      'Try again once owner-sso status says that it is valid.',
    )
  }
  const { tokens, obtained_at, history } = record
  const { refresh_token, access_token, expires_at, auth_url } = tokens
  // A refresh may bring an access token that the owner API refuses: the one that works goes along.
  const works = access_token !== '' && expires_at > Date.now() / 1000
  const told = typeof history === 'string' && { history }
  return { refresh_token, ...(works && { access_token, expires_at }), auth_url, obtained_at, ...told }
}

/** The one that was left out, or how many, which are named first. */
function leftOut(problems: readonly CommandError[]): unknown {
  const [problem, ...others] = problems
  if (problem === undefined || others.length === 0) return problem
  printNote(...problems.map(({ message, next }) => `Not exported: ${message} ${next}`))
  const message = `${problems.length} accounts could not be exported.`
  return new CommandError(problem.exitCode, message, 'Each is named above, with what helps.', problem.code)
}

/** For the user alone; never over another file. */
async function writeNewFile(path: string, text: string): Promise<void> {
  try {
    await writeFile(expandHome(path), `${text}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const isThere = systemCode(error) === 'EEXIST'
    const next = isThere ? 'Name a file that is not there yet.' : 'Name another place with --file.'
    throw systemError(`${path} can’t be written`, error, next)
  }
}

function tell(names: readonly string[], path: string | undefined, isPlain: boolean): void {
  const whose = names.length === 1 ? names.join('') : `${names.length} accounts`
  const how = isPlain ? 'not sealed: whoever reads it is signed in' : 'sealed'
  printNote(`Exported, ${how}: ${whose}${path === undefined ? '' : `, to ${path}`}.`)
  printNote('A refresh token works once: use it in one place alone, there or here (owner-sso logout ends it here).')
}
