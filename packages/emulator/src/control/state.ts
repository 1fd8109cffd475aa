/**
 * What `GET /_emulator/state` shows: everything that can be switched with its present value, and what surrounds it.
 */
import type { Account } from '../service/accounts.ts'
import type { Clock } from '../service/clock.ts'
import type { Counters } from '../service/counters.ts'
import type { AccountSwitches } from '../options/account-options.ts'
import { endpoints } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import { stepSeconds } from '../service/factors.ts'
import type { ServiceState } from '../service/service-state.ts'
import { isChangeable, optionNames, optionTable, type OptionGroup, type OptionName } from '../options/option-table.ts'
import type { Settings } from '../options/options.ts'
import { scenarios } from '../switches/scenarios.ts'
import type { Switchboard } from '../switches/switchboard.ts'

/** What the control API speaks for. */
export interface Controlled {
  readonly service: ServiceState
  readonly faults: Faults
  readonly switches: Switchboard
  readonly ownerApiUrl: string
}

/** An option: what it is, what it may be, and what it settles. */
export interface OptionState {
  readonly value: unknown
  readonly initial: unknown
  readonly changeable: boolean
  /** What it takes, in words. */
  readonly expected: string
  /** The values it can have, where they are few. */
  readonly choices?: readonly unknown[]
  readonly group: OptionGroup
  readonly about: string
}

/** An account with its passcodes of this moment. */
export interface AccountState extends Required<AccountSwitches> {
  readonly identity: string
  readonly factors: readonly {
    readonly id: string
    readonly name: string
    readonly passcode: string
    readonly secondsLeft: number
  }[]
  readonly backupCodesLeft: number
}

/** The faults of an endpoint. */
export interface FaultState {
  readonly always: object | null
  readonly once: readonly object[]
}

export interface ScenarioState {
  readonly name: string
  readonly about: string
  readonly applied: boolean
}

/** A client that came lately, as JSON has it: null for what is undefined. */
export interface ClientState {
  readonly address: string
  readonly userAgent: string
  readonly tlsVersion: string | null
  readonly requests: number
  readonly maxRequests: number | null
  readonly windowEndsAt: number | null
  readonly blockedUntil: number | null
}

/** JSON, as the README lists it: the answer of `GET /_emulator/state`, and of every change. */
export interface ControlState {
  readonly authUrl: string
  readonly regionalAuthUrl: string
  readonly ownerApiUrl: string
  readonly tokenUrl: string
  readonly regionalTokenUrl: string
  readonly clock: { readonly now: number; readonly offset: number; readonly frozen: boolean }
  readonly firewall: { readonly blockedUntil: number | null; readonly clients: readonly ClientState[] }
  readonly options: Readonly<Record<string, OptionState>>
  readonly accounts: readonly AccountState[]
  readonly faults: Readonly<Record<string, FaultState>>
  readonly failures: readonly { readonly where: string; readonly error: string }[]
  readonly counters: Readonly<Counters>
  readonly scenarios: readonly ScenarioState[]
}

export function controlState({ service, faults, switches, ownerApiUrl }: Controlled): ControlState {
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
    accounts: accounts.all.map((account) => accountState(account, clock)),
    faults: Object.fromEntries(endpoints.map((endpoint) => [endpoint, faultState(faults, endpoint)])),
    failures: faults.failures.map(({ where, error }) => ({ where, error: String(error) })),
    counters,
    scenarios: Object.entries(scenarios).map(([name, { about }]) => ({
      name,
      about,
      applied: [...switches.applied].some((applied) => applied === name),
    })),
  }
}

function optionState(name: OptionName, settings: Settings, initial: Settings): OptionState {
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
function shown(name: OptionName, settings: Settings): unknown {
  if (name === 'accounts') return settings.accounts.map(({ identity }) => identity)
  const value = settings[name]
  return value instanceof RegExp ? String(value) : (value ?? null)
}

function firewallClients({ firewall, settings }: ServiceState): readonly ClientState[] {
  return firewall.clients().map(({ tlsVersion, windowEndsAt, blockedUntil, ...client }) => ({
    ...client,
    maxRequests: settings.firewall ? settings.firewall.maxRequests : null,
    tlsVersion: tlsVersion ?? null,
    windowEndsAt: windowEndsAt ?? null,
    blockedUntil: blockedUntil ?? null,
  }))
}

function accountState(
  { identity, region, locked, captcha, factors, backupCodes }: Account,
  clock: Clock,
): AccountState {
  const now = clock.now()
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

function faultState(faults: Faults, endpoint: (typeof endpoints)[number]): FaultState {
  const { always, once } = faults.ordered(endpoint)
  return { always: always === undefined ? null : orderShown(always), once: once.map(orderShown) }
}

/** A function and a promise have no JSON: their place says so. */
function orderShown(order: object): object {
  if (typeof order === 'function') return { transform: 'function' }
  return 'hold' in order && order.hold !== undefined ? { ...order, hold: 'promise' } : order
}
