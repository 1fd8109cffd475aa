/**
 * `owner-sso export`: refresh tokens for another machine or another program, sealed unless it is said otherwise.
 */
import { writeFile } from 'node:fs/promises'
import { SignedOutError, systemCode } from '@owner-sso/core'
import { accountNames, chosenAccount, requireSignedIn } from '../tokens/account.ts'
import { CommandError, exitCodes, systemError } from '../failure/command-error.ts'
import { expandHome } from '../machine/folders.ts'
import { type ExportedTokens, newSecret, plainExport, sealedExport } from '../moving/export-file.ts'
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
  async run({ settings, options: { file: path, all, plainTextTokens = false } }) {
    const exportAll = async (keeping: TokenKeeping): Promise<void> => {
      const { tokens } = keeping
      const { names, failure } = all
        ? await accountNames(tokens)
        : { names: [await chosenAccount(settings, tokens)], failure: undefined }
      const accounts = new Map<string, ExportedTokens>()
      let problem = failure
      for (const name of names) {
        try {
          accounts.set(name, await requireSignedIn(name, tokens, () => exported(name, keeping)))
        } catch (error) {
          if (!(error instanceof CommandError)) throw error
          if (all) printNote(`Not exported: ${error.message} ${error.next}`)
          problem ??= error
        }
      }
      if (accounts.size > 0 || problem === undefined) {
        const content = Object.fromEntries(accounts)
        const file = plainTextTokens ? plainExport(content) : sealedExport(content, ...(await newSecret(settings)))
        if (path === undefined) await printJson(file)
        else await writeNewFile(path, JSON.stringify(file, undefined, 2))
        const whose = accounts.size === 1 ? [...accounts.keys()].join('') : `${accounts.size} accounts`
        const how = plainTextTokens ? 'not sealed: whoever reads it is signed in' : 'sealed'
        printNote(`Exported, ${how}: ${whose}${path === undefined ? '' : `, to ${path}`}.`)
        printNote(
          'A refresh token works once: use it in one place alone, there or here (owner-sso logout ends it here).',
        )
      }
      if (problem !== undefined) throw problem
    }
    await withTokens(settings, undefined, exportAll, { alsoWithoutKey: true })
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
