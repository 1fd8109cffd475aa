/**
 * What `GET /_emulator/state` shows, and the inspector once a second: everything that can be switched with its present value,
 * and what lives at this moment. No secret is in it but the passcodes of this moment.
 */
import type { Account } from '../state/accounts.ts'
import { endpoints } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import { stepSeconds } from '../state/factors.ts'
import type { Living } from '../state/expiring-map.ts'
import { describeMinting } from '../state/minting.ts'
import type { Place } from '../journal/exchange.ts'
import type { ServiceState } from '../state/service-state.ts'
import { isChangeable, optionNames, optionTable, type OptionName } from '../options/option-table.ts'
import type { EmulatorSettings } from '../options/options.ts'
import { scenarios } from '../switches/scenarios.ts'
import type { Switchboard } from '../switches/switchboard.ts'

/** What the control API speaks for. */
export interface Controlled {
  readonly service: ServiceState
  readonly faults: Faults
  readonly switches: Switchboard
  readonly ownerApiUrl: string
}

/** A session, code or token of this moment. */
interface Life {
  readonly identity?: string | undefined
  readonly place: Place
  /** How far it has come; of an access token, what it was minted over. */
  readonly stage?: string
}

/** So many of the youngest of each kind are listed; the others are counted. */
const maxListed = 5

/** As JSON; null stands for what there is not. Times are seconds since the epoch by the emulator's clock. */
export type ControlState = ReturnType<typeof controlState>
export type AccountState = ControlState['accounts'][number]
export type OptionState = ControlState['options'][string]
export type FaultState = ControlState['faults'][string]
export type Alive = ReturnType<typeof alive>

export function controlState({ service, faults, switches, ownerApiUrl }: Controlled) {
  const { instances, clock, firewall, settings, accounts, counters } = service
  return {
    authUrl: instances.home.url,
    regionalAuthUrl: instances.regional.url,
    ownerApiUrl,
    tokenUrl: instances.home.tokenUrl,
    regionalTokenUrl: instances.regional.tokenUrl,
    clock: { now: clock.now(), offset: clock.offset, frozen: clock.frozen },
    firewall: { blockedUntil: firewall.blockedUntil ?? null, clients: firewallClients(service) },
    options: Object.fromEntries(
      optionNames.map((name) => [name, optionState(name, settings, switches.initial)] as const),
    ),
    accounts: accounts.all.map((account) => accountState(account, clock.now())),
    faults: Object.fromEntries(endpoints.map((endpoint) => [endpoint, faultState(faults, endpoint)])),
    failures: faults.failures.map(({ where, error }) => ({ where, error: String(error) })),
    counters,
    scenarios: Object.entries(scenarios).map(([name, { about }]) => ({
      name,
      about,
      applied: [...switches.applied].some((applied) => applied === name),
    })),
    alive: aliveIn(service),
  }
}

function aliveIn({ sessions, codes, accessTokens, refreshTokens }: ServiceState) {
  return {
    Sessions: alive(sessions.alive(), ({ instance, pending }) => ({
      identity: pending?.account.identity,
      place: instance.region,
      stage: !pending ? 'login page shown' : pending.verified ? 'passcode verified' : 'waits for a passcode',
    })),
    Codes: alive(codes.alive(), ({ account, session, complete }) => ({
      identity: account.identity,
      place: session.instance.region,
      stage: complete ? 'good for tokens' : 'the passcode is due',
    })),
    'Access tokens': alive(accessTokens.alive(), ({ account: { identity, region: place }, minting }) => ({
      identity,
      place,
      stage: describeMinting(minting),
    })),
    'Refresh tokens': alive(refreshTokens.alive(), ({ account: { identity, region: place } }) => ({ identity, place })),
  }
}

function alive<Value>(living: Iterable<Living<Value>>, lifeOf: (value: Value) => Life) {
  const all = [...living]
  const youngest = all.slice(-maxListed).toReversed()
  return {
    count: all.length,
    youngest: youngest.map(({ value, expiresAt }) => ({
      ...lifeOf(value),
      expiresAt: Number.isFinite(expiresAt) ? expiresAt : null,
    })),
  }
}

function optionState(name: OptionName, settings: EmulatorSettings, initial: EmulatorSettings) {
  const { group, about, check } = optionTable[name]
  const { expected, choices } = check
  return {
    value: shown(name, settings),
    initial: shown(name, initial),
    changeable: isChangeable(name),
    expected,
    ...(choices && { choices }),
    group,
    about,
  }
}

/** A value as JSON has it: accounts have a list of their own and secrets, a RegExp is shown as it is written. */
function shown(name: OptionName, settings: EmulatorSettings): unknown {
  if (name === 'accounts') return settings.accounts.map(({ identity }) => identity)
  const value = settings[name]
  return value instanceof RegExp ? String(value) : (value ?? null)
}

function firewallClients({ firewall, settings }: ServiceState) {
  return firewall.clients().map(({ tlsVersion, windowEndsAt, blockedUntil, ...client }) => ({
    ...client,
    maxRequests: settings.firewall ? settings.firewall.maxRequests : null,
    tlsVersion: tlsVersion ?? null,
    windowEndsAt: windowEndsAt ?? null,
    blockedUntil: blockedUntil ?? null,
  }))
}

function accountState(account: Account, now: number) {
  const { identity, region, locked, captcha, factors, backupCodes } = account
  return {
    identity,
    region,
    locked,
    captcha,
    factors: factors.map((factor) => ({
      id: factor.id,
      name: factor.name,
      passcode: factor.passcode(now),
      secondsLeft: stepSeconds - (now % stepSeconds),
    })),
    backupCodesLeft: backupCodes.size,
  }
}

function faultState(faults: Faults, endpoint: (typeof endpoints)[number]) {
  const { always, once } = faults.ordered(endpoint)
  return { always: always === undefined ? null : orderShown(always), once: once.map(orderShown) }
}

/** A function and a promise have no JSON: their place says so. */
function orderShown(order: object): object {
  if (typeof order === 'function') return { transform: 'function' }
  return 'hold' in order && order.hold !== undefined ? { ...order, hold: 'promise' } : order
}
