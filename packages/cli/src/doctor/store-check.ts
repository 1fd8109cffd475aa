/**
 * Whether the store can be read and written, who is in it, and whether others could get at it.
 */
import { createTokenManager } from '@owner-sso/core'
import { accountNames } from '../tokens/account.ts'
import { failureOf } from '../command-line/failure.ts'
import { openStore } from '../stores/open-store.ts'
import type { Settings } from '../settings/settings.ts'
import { neverRefreshes } from '../tokens/token-keeping.ts'
import { checkBlocks } from './block-check.ts'
import { type Finding, good, problem } from './finding.ts'
import { checkRefreshes } from './refresh-check.ts'

export async function checkStore(settings: Settings): Promise<Finding[]> {
  try {
    const { store, shown, sealed, keyIn, check, close } = await openStore(settings.store.value, {
      ca: settings.ca?.value,
      keyring: settings.keyring,
    })
    try {
      await store.read('owner-sso')
      const tokens = createTokenManager({ sso: neverRefreshes, store })
      const accounts = await accountNames(tokens)
      const found = [good('store', `${shown} (${settings.store.from}), ${counted(accounts.length)}`)]
      found.push(...(await check()))
      found.push(
        sealed
          ? good('encryption', `records are sealed (AES-256-GCM); the key is in ${keyIn}`)
          : good('encryption', 'none: OWNER_SSO_ENCRYPTION_KEY would seal the records'),
      )
      found.push(...severalAccounts(settings, accounts), ...(await checkBlocks(store, settings)))
      found.push(...(await checkRefreshes(accounts, tokens, store)))
      return found
    } finally {
      await close()
    }
  } catch (error) {
    const { message, next, exitCode } = failureOf(error)
    return [problem('store', message, next, exitCode)]
  }
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
