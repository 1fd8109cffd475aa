/**
 * The handles of a running emulator that reach into the service itself.
 */
import { checkNames } from '../support/known-names.ts'
import { accountView, type Account } from '../state/accounts.ts'
import type { Addresses, Emulator } from './emulator.ts'
import type { Faults } from '../faults/faults.ts'
import type { Journal } from '../journal/journal.ts'
import { signInByHand } from '../service/sign-in-by-hand.ts'
import type { ServiceState } from '../state/service-state.ts'
import { isRegistered } from '../state/strictness.ts'
import type { Switchboard } from './switchboard.ts'

export type Handles = Omit<Emulator, keyof Addresses | 'ca' | 'jwks' | 'close' | typeof Symbol.asyncDispose>

export function createHandles(
  service: ServiceState,
  faults: Faults,
  journal: Journal,
  switches: Switchboard,
  ca: string | undefined,
): Handles {
  const { accounts, accessTokens, refreshTokens, instances, clock, counters, firewall } = service
  const known = (identity: string): Account => {
    if (typeof identity !== 'string') throw new TypeError('identity must be the e-mail of an account')
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
    applyScenario: switches.applyScenario,
    once: faults.once,
    always: faults.always,
    failures: faults.failures,
    async issueTokens(identity) {
      const account = known(identity)
      const audience = isRegistered(service.settings) ? service.ownerApiUrl : undefined
      const tokens = await refreshTokens.signIn(account, instances[account.region], audience)
      journal.adopt(account.identity, { ...tokens })
      return tokens
    },
    async signInByHand(url, options = {}) {
      checkNames('option', '', options, ['identity', 'credential', 'passcode'])
      const hinted = new URL(url).searchParams.get('login_hint')
      const identity = options.identity ?? hinted ?? accounts.all[0]?.identity ?? ''
      const account = accounts.find(identity)
      const [factor] = account?.factors ?? []
      const person = {
        identity,
        credential: options.credential ?? known(identity).credential,
        passcode: options.passcode ?? factor?.passcode(clock.now()) ?? '',
      }
      return signInByHand(service, url, person, ca)
    },
    revokeAccessTokens(identity) {
      const account = known(identity)
      return accessTokens.revoke((token) => token.account === account)
    },
    reset: switches.reset,
    expireRefreshTokens: (identity) => refreshTokens.expire(known(identity)),
  }
}
