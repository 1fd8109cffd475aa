/**
 * The handles of a running emulator that reach into the service itself.
 */
import { accountView, type Account } from './accounts.ts'
import type { Emulator } from './emulator.ts'
import type { Faults } from './faults/faults.ts'
import type { Journal } from './journal/journal.ts'
import type { Service } from './service.ts'
import type { Switchboard } from './switches/switchboard.ts'

export type Handles = Omit<
  Emulator,
  'authUrl' | 'regionalAuthUrl' | 'ownerApiUrl' | 'ca' | 'jwks' | 'reset' | 'close' | typeof Symbol.asyncDispose
>

export function createHandles(service: Service, faults: Faults, journal: Journal, switches: Switchboard): Handles {
  const { accounts, accessTokens, refreshTokens, instances, clock, counters, firewall } = service
  const known = (identity: string): Account => {
    const account = accounts.find(identity)
    if (!account) throw new TypeError(`The emulator has no account ${identity}`)
    return account
  }
  const views = new Map(accounts.all.map((account) => [account, accountView(account, clock)]))
  return {
    accounts: [...views.values()],
    account: (identity) => {
      const account = known(identity)
      return views.get(account) ?? accountView(account, clock)
    },
    clock,
    counters,
    firewall,
    requests: journal.requests,
    change: switches.change,
    play: switches.play,
    once: faults.once,
    always: faults.always,
    failures: faults.failures,
    async issueTokens(identity) {
      const account = known(identity)
      const tokens = await refreshTokens.signIn(account, instances[account.region])
      journal.adopt(account.identity, { ...tokens })
      return tokens
    },
    revokeAccessTokens(identity) {
      const account = known(identity)
      return accessTokens.revoke((token) => token.account === account)
    },
    expireRefreshTokens: (identity) => refreshTokens.expire(known(identity)),
  }
}
