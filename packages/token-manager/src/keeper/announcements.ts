/**
 * Whom an operator was told of already: an account that has to sign in again is told once, not in every sweep.
 */
import type { Emit } from '../kernel/context.ts'
import type { TokenManager } from '../manager/token-manager.ts'
import type { ReauthenticationRequired } from '../store/token-record.ts'
import { recentEntries } from '../support/recent-entries.ts'

/** Accounts that are remembered: some megabytes. */
const remembered = 50_000

export interface Announcements {
  /** Emits `reauthentication-required`, unless this process has emitted it for the same tokens. */
  once(account: string, record: ReauthenticationRequired): void
}

export function createAnnouncements(
  emit: Emit,
  tokens: Pick<TokenManager, 'on'>,
): Announcements & { readonly end: () => void } {
  const known = recentEntries<string>(remembered)
  // What this process's own refreshes told: their records are not read again before the next sweep.
  let isOurs = false
  const end = tokens.on('reauthentication-required', ({ account }) => {
    if (!isOurs) known.set(account, anyLineage)
  })
  return {
    once(account, { lineage, reason }) {
      const before = known.get(account)
      known.set(account, lineage)
      if (before === lineage || before === anyLineage) return
      isOurs = true
      void emit('reauthentication-required', { account, reason })
      isOurs = false
    },
    end,
  }
}

const anyLineage = ''
