/**
 * `owner-sso copy`: all accounts, and what their processes share, into another store.
 */
import { checkedAccountName, copyTokenSets, StoreError, type TokenStore, visible } from '@owner-sso/core'
import { CommandError, exitCodes, usageError } from '../failure/command-error.ts'
import { notSealed, type OpenStore, withStore } from '../tokens/open-store.ts'
import { printJson, printNote } from '../terminal/output.ts'
import { counted } from '../terminal/wording.ts'
import { refusePassword, type Settings } from '../settings/settings.ts'
import { flag, type OptionsOf } from '../options/option.ts'
import { defineCommand } from './command.ts'

/** `-` is the store of the settings, whose address may hold a password; an argument may not. */
function addressOf(argument: string, { store }: Settings): string {
  if (argument === '-') return store.value
  refusePassword(argument, 'An address of copy')
  return argument
}

/** One side is said to be plain, so the other is meant to be encrypted: without a key both would be plain. */
function requireKey({ fromPlain = false, toPlain = false }: CopyFlags, from: OpenStore, to: OpenStore): void {
  if (fromPlain === toPlain || (fromPlain ? to : from).sealed) return
  throw usageError(
    `No key is set, so ${fromPlain ? 'the copy would be plain as well' : 'nothing could be decrypted'}.`,
    'Set OWNER_SSO_ENCRYPTION_KEY, or omit the option.',
  )
}

/** Counts what arrives, for a copy that ends in an error. */
function countingWrites(store: TokenStore) {
  // `shared`: records that are no account's, such as blocks of the firewall, the broker's programs and notes.
  const written = { accounts: 0, shared: 0 }
  const counting: TokenStore = {
    read: (account) => store.read(account),
    async swap(account, ...rest) {
      const result = await store.swap(account, ...rest)
      if (!('conflict' in result)) written[isOurs(account) ? 'shared' : 'accounts'] += 1
      return result
    },
  }
  return { store: counting, written }
}

/** A name that no account may have is a record of our own. */
function isOurs(name: string): boolean {
  try {
    checkedAccountName(name)
    return false
  } catch {
    return true
  }
}

const copyOptions = {
  fromPlain: flag('read the first store unencrypted, although OWNER_SSO_ENCRYPTION_KEY is set'),
  toPlain: flag('leave the second store unencrypted'),
}

type CopyFlags = OptionsOf<typeof copyOptions>

export const command = defineCommand({
  name: 'copy',
  args: '<from> <to>',
  summary: 'copy all accounts into another store',
  description:
    'Copies the newest record of every account into another store, and what its processes share: a block of the ' +
    'firewall, the programs of the broker. Newer records in the target stay. First stop everything that uses the ' +
    'old store: a token that is refreshed there afterwards is dead in the copy. A dash stands for the store of ' +
    'OWNER_SSO_STORE or the config file.',
  options: copyOptions,
  examples: [
    ['owner-sso copy file:tokens redis://127.0.0.1:6379', 'from a folder into Redis'],
    ['owner-sso copy --from-plain file:tokens file:sealed', 'encrypt what was plain'],
  ],
  async run({ settings, options, args }) {
    const [fromAddress, toAddress] = args.map((argument) => addressOf(argument, settings))
    if (fromAddress === undefined || toAddress === undefined)
      throw usageError('Two stores are needed.', 'Give the one to copy from, then the one to copy to.')
    const { fromPlain, toPlain } = options
    await withStore(fromAddress, settings, { plain: fromPlain }, async (from) => {
      await withStore(toAddress, settings, { plain: toPlain, signsIn: true, ifMissing: 'make' }, async (to) => {
        if (from.shown === to.shown) throw usageError('Both are the same store.', 'Give two different ones.')
        requireKey(options, from, to)
        try {
          await copy(from, to, settings, options)
        } catch (error) {
          if (await isPlain(from, error)) throw plainSource(from, args)
          throw notSealed(error, to, { store: { value: to.shown, from: '--store' } })
        }
      })
    })
  },
})

/** Of two stores under a key, whose records are plain? */
async function isPlain({ store }: OpenStore, error: unknown): Promise<boolean> {
  if (!(error instanceof StoreError) || error.reason !== 'not-sealed') return false
  try {
    for await (const name of store.accounts?.() ?? []) await store.read(name)
    return false
  } catch (failure) {
    return failure instanceof StoreError && failure.reason === 'not-sealed'
  }
}

function plainSource({ shown }: OpenStore, args: readonly string[]): CommandError {
  const message = `The records of ${shown} are plain: they were stored before OWNER_SSO_ENCRYPTION_KEY was set.`
  const next = `Read them as they are: owner-sso copy --from-plain ${args.join(' ')}`
  return new CommandError(exitCodes.store, message, next, 'ERR_SSO_STORE')
}

async function copy(from: OpenStore, to: OpenStore, settings: Settings, { toPlain }: CopyFlags): Promise<void> {
  const target = countingWrites(to.store)
  const outcome = (): string => {
    const { accounts, shared } = target.written
    return `${counted(accounts, 'account')} and ${counted(shared, 'shared record')} copied from ${from.shown} to ${to.shown}`
  }
  const left: string[] = []
  const onLeft = (name: string): void => void left.push(name)
  const copied = await copyTokenSets(from.store, target.store, { onLeft }).catch((error: unknown) => {
    printNote(`${outcome()}, and not all there are: once the error is mended, run this again for the rest.`)
    throw error
  })
  if (settings.json) await printJson({ from: from.shown, to: to.shown, copied, left })
  printNote(`${outcome()}.`)
  for (const name of left)
    printNote(`${to.shown} has its own ${visible(name)}: that one stays, and the other was not copied.`)
  if (from.sealed && !to.sealed && toPlain !== true)
    printNote('The copies are not encrypted, as their originals are: set OWNER_SSO_ENCRYPTION_KEY and copy again.')
  if (copied > 0)
    printNote(`Use the new one from now on, and no longer the old one: export OWNER_SSO_STORE=${to.shown}`)
}
