/**
 * What lives at this moment, for the inspector: passcodes, sessions, codes, tokens, the firewall's windows.
 */
import type { Account } from '../service/accounts.ts'
import type { Alive } from '../service/expiring-map.ts'
import { stepSeconds } from '../service/factors.ts'
import type { FirewallClient } from '../service/firewall.ts'
import type { Place } from '../journal/exchange.ts'
import { describeMinting } from '../service/minting.ts'
import type { FirewallOptions } from '../options/options.ts'
import type { ServiceState } from '../service/service-state.ts'

/** Of each kind that many of the youngest are listed; the rest is counted. */
const maxListed = 5

/** Of the firewall. */
const maxClientsListed = 12

/** Times are seconds since the epoch by the emulator's clock. No secret is in it but the passcodes of this moment. */
export interface LiveState {
  readonly now: number
  readonly frozen: boolean
  readonly accounts: readonly LiveAccount[]
  readonly sessions: Living
  readonly codes: Living
  readonly accessTokens: Living
  readonly refreshTokens: Living
  readonly firewall: {
    readonly rules: Required<FirewallOptions> | false
    readonly blockedUntil: number | undefined
    readonly clients: readonly FirewallClient[]
  }
}

export interface LiveAccount {
  readonly identity: string
  readonly region: Account['region']
  readonly locked: boolean
  readonly captcha: Account['captcha']
  readonly factors: readonly { readonly name: string; readonly passcode: string }[]
  /** Seconds until the passcodes change; they last `passcodeSeconds`. */
  readonly secondsLeft: number
  readonly passcodeSeconds: number
  readonly backupCodes: number
}

/** How many there are, and the youngest of them. */
export interface Living {
  readonly count: number
  readonly youngest: readonly Life[]
}

export interface Life {
  readonly identity: string | undefined
  readonly place: Place
  /** How far it has come; of an access token, what it was minted over. */
  readonly stage: string | undefined
  /** Undefined: it does not end by itself. */
  readonly expiresAt: number | undefined
}

export function liveState(service: ServiceState): LiveState {
  const { clock, accounts, sessions, codes, accessTokens, refreshTokens, firewall, settings } = service
  const now = clock.now()
  return {
    now,
    frozen: clock.frozen,
    accounts: accounts.all.map((account) => liveAccount(account, now)),
    sessions: living(sessions.alive(), ({ instance, pending }) => ({
      identity: pending?.account.identity,
      place: instance.region,
      stage: !pending ? 'login page shown' : pending.verified ? 'passcode verified' : 'waits for a passcode',
    })),
    codes: living(codes.alive(), ({ account, session, complete }) => ({
      identity: account.identity,
      place: session.instance.region,
      stage: complete ? 'good for tokens' : 'the passcode is due',
    })),
    accessTokens: living(accessTokens.alive(), ({ account, minting }) => tokenLife(account, describeMinting(minting))),
    refreshTokens: living(refreshTokens.alive(), ({ account }) => tokenLife(account)),
    firewall: {
      rules: settings.firewall,
      blockedUntil: firewall.blockedUntil,
      clients: firewall.clients().slice(-maxClientsListed),
    },
  }
}

function liveAccount(account: Account, now: number): LiveAccount {
  const { identity, region, locked, captcha, factors, backupCodes } = account
  return {
    identity,
    region,
    locked,
    captcha,
    factors: factors.map((factor) => ({ name: factor.name, passcode: factor.passcode(now) })),
    secondsLeft: stepSeconds - (now % stepSeconds),
    passcodeSeconds: stepSeconds,
    backupCodes: backupCodes.size,
  }
}

function tokenLife({ identity, region }: Account, stage?: string): Omit<Life, 'expiresAt'> {
  return { identity, place: region, stage }
}

function living<Value>(all: Iterable<Alive<Value>>, lifeOf: (value: Value) => Omit<Life, 'expiresAt'>): Living {
  let count = 0
  const youngest: Alive<Value>[] = []
  for (const one of all) {
    count += 1
    youngest.push(one)
    if (youngest.length > maxListed) youngest.shift()
  }
  return {
    count,
    youngest: youngest.toReversed().map(({ value, expiresAt }) => ({
      ...lifeOf(value),
      expiresAt: Number.isFinite(expiresAt) ? expiresAt : undefined,
    })),
  }
}
