/**
 * A call's token manager over its store: opened, used, and left only when nothing is half-way.
 */
import { type Sso, type TokenManager, createTokenManager } from '@owner-sso/core'
import { requestBudgetOf } from '../settings/configured-service.ts'
import { stopped } from '../failure/interruption.ts'
import { type OpenStore, requireSealed, type StoreOptions, withStore } from './open-store.ts'
import { printNote } from '../terminal/output.ts'
import type { Settings } from '../settings/settings.ts'

/** Milliseconds after which a person who pressed Ctrl-C is told why the command is still there. */
const explainAfter = 300

/** Accounts in memory: a call is mostly about one, and room for thousands takes milliseconds to make. */
const cachedAccounts = 32

export interface TokenKeeping {
  readonly tokens: TokenManager
  readonly store: OpenStore
}

interface KeepingOptions extends Pick<StoreOptions, 'signsIn' | 'alsoWithoutKey'> {
  readonly makesStore?: boolean
  /** Seconds; left out: the token manager's own. */
  readonly minRefreshInterval?: number
}

/**
 * @param sso - what refreshes; left out by commands that only look
 * @param options - `signsIn`: new tokens will be stored, so a folder gets its key from the keyring. `makesStore`: one that is
 *   not there is made; without it nobody is signed in at the default one, and any other is an error
 * @throws whatever `use` throws; CommandError, StoreError from opening the store
 */
export async function withTokens<Result>(
  settings: Settings,
  sso: Pick<Sso, 'refresh'> | undefined,
  use: (keeping: TokenKeeping) => Promise<Result>,
  { signsIn = false, makesStore = signsIn, alsoWithoutKey = false, minRefreshInterval }: KeepingOptions = {},
): Promise<Result> {
  const requestBudget = requestBudgetOf(settings)
  const ifMissing = makesStore ? 'make' : settings.store.from === 'default' ? 'empty' : 'refuse'
  return withStore(settings.store.value, settings, { signsIn, ifMissing, alsoWithoutKey }, async (store) => {
    if (signsIn && store.sealed) await requireSealed(store.store)
    const tokens = createTokenManager({
      issuer: sso ?? neverRefreshes,
      store: store.store,
      cachedAccounts,
      requestBudget,
      refresh: settings.refresh.value,
      minRefreshInterval,
    })
    try {
      return await use({ tokens, store })
    } finally {
      await leave(tokens)
    }
  })
}

/** A refresh under way is waited for: the new tokens are in its answer, and the old ones may be spent. */
async function leave(tokens: TokenManager): Promise<void> {
  const timer = setTimeout(() => {
    if (stopped.aborted) explain()
    else stopped.addEventListener('abort', explain, { once: true })
  }, explainAfter)
  await tokens.settled()
  clearTimeout(timer)
  stopped.removeEventListener('abort', explain)
}

function explain(): void {
  printNote('Finishing the refresh under way, so that its tokens are not lost (at most 30 s) …')
}

export const neverRefreshes: Pick<Sso, 'refresh'> = {
  refresh: () => Promise.reject(new Error('This command makes no refresh.')),
}
