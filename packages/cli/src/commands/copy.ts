/**
 * `owner-sso copy`: all accounts into another store.
 */
import { copyTokenSets } from '@owner-sso/core'
import type { Call } from '../call.ts'
import { exitCodes, usageError } from '../command-error.ts'
import { openStore } from '../open-store.ts'
import { printJson, printNote } from '../output.ts'

export async function run({ settings, options, args }: Call): Promise<number> {
  const [fromAddress = '', toAddress = ''] = args
  const ca = settings.ca?.value
  const from = await openStore(fromAddress, { ca, plain: options.fromPlain })
  const to = await openStore(toAddress, { ca, plain: options.toPlain })
  try {
    if (from.shown === to.shown) throw usageError('Both are the same store.', 'Give two different ones.')
    const copied = await copyTokenSets(from.store, to.store)
    if (settings.json) await printJson({ from: from.shown, to: to.shown, copied })
    printNote(`${copied} ${copied === 1 ? 'record' : 'records'} copied from ${from.shown} to ${to.shown}.`)
    if (copied > 0)
      printNote(`Use the new one from now on, and the old one no more: export OWNER_SSO_STORE=${to.shown}`)
  } finally {
    await from.close()
    await to.close()
  }
  return exitCodes.ok
}
