/**
 * `owner-sso copy`: all accounts, and what their processes share, into another store.
 */
import { copyTokenSets, visible } from '@owner-sso/core'
import { usageError } from '../failure/command-error.ts'
import { type OpenStore, requireSealed, withStore } from '../tokens/open-store.ts'
import { printJson, printNote } from '../terminal/output.ts'
import { counted } from '../terminal/wording.ts'
import { refusePassword, type Settings } from '../settings/settings.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'copy',
  args: '<from> <to>',
  summary: 'copy all accounts into another store',
  description:
    'Copies the newest record of every account into another store, and what its processes share: a block of the ' +
    'firewall, the programs of the broker. Newer records in the target stay. First stop everything that uses the ' +
    'old store: a token that is refreshed there afterwards is dead in the copy. A dash stands for the store of ' +
    'OWNER_SSO_STORE or the config file.',
  options: {},
  examples: [['owner-sso copy file:tokens redis://127.0.0.1:6379', 'from a folder into Redis']],
  async run({ settings, args }) {
    const [fromAddress, toAddress] = args.map((argument) => addressOf(argument, settings))
    if (fromAddress === undefined || toAddress === undefined)
      throw usageError('Two stores are needed.', 'Give the one to copy from, then the one to copy to.')
    const at = (value: string): Settings => ({ ...settings, store: { value, from: '--store' } })
    await withStore(fromAddress, at(fromAddress), {}, async (from) => {
      if (from.sealed) await requireSealed(from.store)
      await withStore(toAddress, at(toAddress), { signsIn: true, ifMissing: 'make' }, async (to) => {
        if (from.shown === to.shown) throw usageError('Both are the same store.', 'Give two different ones.')
        await copy(from, to, settings)
      })
    })
  },
})

/** `-` is the store of the settings, whose address may hold a password; an argument may not. */
function addressOf(argument: string, { store }: Settings): string {
  if (argument === '-') return store.value
  refusePassword(argument, 'An address of copy')
  return argument
}

async function copy(from: OpenStore, to: OpenStore, { json }: Settings): Promise<void> {
  const left: string[] = []
  const copied = await copyTokenSets(from.store, to.store, { onLeft: (name) => void left.push(name) }).catch(
    (error: unknown) => {
      printNote('Not all there are were copied: once the error is mended, run this again for the rest.')
      throw error
    },
  )
  if (json) await printJson({ from: from.shown, to: to.shown, copied, left })
  printNote(`${counted(copied, 'account')} copied from ${from.shown} to ${to.shown}.`)
  for (const name of left)
    printNote(`${to.shown} has its own ${visible(name)}: that one stays, and the other was not copied.`)
  if (from.sealed && !to.sealed)
    printNote('The copies are not encrypted, as their originals are: set OWNER_SSO_ENCRYPTION_KEY and copy again.')
  if (copied > 0)
    printNote(`Use the new one from now on, and no longer the old one: export OWNER_SSO_STORE=${to.shown}`)
}
