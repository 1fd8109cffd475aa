/**
 * Whether the store can be read and written, who is in it, and whether others could get at it.
 */
import { access, constants, stat } from 'node:fs/promises'
import { createTokenManager } from '@owner-sso/core'
import { accountNames } from '../account.ts'
import { exitCodes } from '../command-error.ts'
import { failureOf } from '../failure.ts'
import { openStore } from '../open-store.ts'
import type { Settings } from '../settings.ts'
import { neverRefreshes } from '../token-keeping.ts'
import { checkBlocks } from './block-check.ts'
import { type Finding, good, note, problem } from './finding.ts'

export async function checkStore(settings: Settings): Promise<Finding[]> {
  try {
    const { store, address, shown, sealed, check, close } = await openStore(settings.store.value, {
      ca: settings.ca?.value,
    })
    try {
      await store.read('owner-sso')
      const accounts = await accountNames(createTokenManager({ sso: neverRefreshes, store }))
      const found = [good('store', `${shown} (${settings.store.from}), ${counted(accounts.length)}`)]
      if (address.kind === 'file') found.push(await checkFolder(address.path))
      found.push(
        sealed
          ? good('encryption', 'records are sealed (AES-256-GCM)')
          : good('encryption', 'none: OWNER_SSO_ENCRYPTION_KEY would seal the records'),
      )
      if (address.kind === 'memory') {
        found.push(note('store', 'It ends with each command.', 'Choose a file or Redis: owner-sso stores'))
      }
      found.push(...severalAccounts(settings, accounts), ...(await checkBlocks(store, settings)))
      for (const { message } of (await check?.()) ?? []) found.push(note('store', message, 'Change it in redis.conf.'))
      return found
    } finally {
      await close()
    }
  } catch (error) {
    const { message, next, exitCode } = failureOf(error)
    return [problem('store', message, next, exitCode)]
  }
}

async function checkFolder(path: string): Promise<Finding> {
  const writable = await access(path, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!writable) {
    return problem('store', `${path} can’t be written.`, `Run chown or chmod u+w on it.`, exitCodes.store)
  }
  const mode = (await stat(path)).mode & 0o777
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    return problem('store', `Other users can look into ${path}.`, `Run chmod 700 ${path}`, exitCodes.store)
  }
  return good('file modes', `${mode.toString(8).padStart(4, '0')}: only you can look into it`)
}

/** `token`, `refresh` and `proxy` can't choose among them. */
function severalAccounts({ account }: Settings, accounts: readonly string[]): Finding[] {
  if (account !== undefined || accounts.length < 2) return []
  const text = `Several accounts are signed in and none is named: ${accounts.join(', ')}.`
  return [problem('account', text, 'Name one with --account, or set OWNER_SSO_ACCOUNT.')]
}

function counted(accounts: number): string {
  return `${accounts} ${accounts === 1 ? 'account' : 'accounts'}`
}
