/** What `GET /_emulator/state` shows: everything that can be switched with its present value, and what surrounds it. */
import type { Account } from '../accounts.ts'
import type { Check } from '../checks.ts'
import type { Clock } from '../clock.ts'
import { ENDPOINTS } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import { STEP_SECONDS } from '../factors.ts'
import { OPTION_CHECKS } from '../option-checks.ts'
import type { Settings } from '../settings.ts'
import type { Service } from '../service.ts'
import { isSwitchable, OPTION_DESCRIPTIONS, OPTION_NAMES, type OptionName } from '../switches/option-descriptions.ts'
import { SCENARIOS } from '../switches/scenarios.ts'
import type { Switchboard } from '../switches/switchboard.ts'

/** What the control API speaks for. */
export interface Controlled {
  readonly service: Service
  readonly faults: Faults
  readonly switches: Switchboard
  readonly ownerApiUrl: string
}

/** JSON, as the README lists it. */
export function controlState({ service, faults, switches, ownerApiUrl }: Controlled): object {
  const { instances, clock, firewall, settings, accounts, counters } = service
  return {
    authUrl: instances.home.url,
    regionalAuthUrl: instances.regional.url,
    ownerApiUrl,
    clock: { now: clock.now(), offset: clock.offset, frozen: clock.frozen },
    firewall: { blockedUntil: firewall.blockedUntil ?? null, clients: firewallClients(service) },
    options: Object.fromEntries(
      OPTION_NAMES.map((name) => [name, optionState(name, settings, switches.initial)] as const),
    ),
    accounts: accounts.all.map((account) => accountState(account, clock)),
    faults: Object.fromEntries(ENDPOINTS.map((endpoint) => [endpoint, faultState(faults, endpoint)])),
    failures: faults.failures.map(({ where, error }) => ({ where, error: String(error) })),
    counters,
    scenarios: Object.entries(SCENARIOS).map(([name, { about }]) => ({
      name,
      about,
      played: [...switches.played].some((played) => played === name),
    })),
  }
}

function optionState(name: OptionName, settings: Settings, initial: Settings): object {
  const { expected, choices }: Check = OPTION_CHECKS[name]
  const [group, about] = OPTION_DESCRIPTIONS[name]
  return {
    value: shown(name, settings),
    initial: shown(name, initial),
    changeable: isSwitchable(name),
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

function firewallClients({ firewall, settings }: Service): readonly object[] {
  return firewall.clients().map(({ tlsVersion, windowEndsAt, blockedUntil, ...client }) => ({
    ...client,
    maxRequests: settings.firewall ? settings.firewall.maxRequests : null,
    tlsVersion: tlsVersion ?? null,
    windowEndsAt: windowEndsAt ?? null,
    blockedUntil: blockedUntil ?? null,
  }))
}

function accountState({ identity, region, locked, captcha, factors, backupCodes }: Account, clock: Clock): object {
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
      secondsLeft: STEP_SECONDS - (now % STEP_SECONDS),
    })),
    backupCodesLeft: backupCodes.size,
  }
}

function faultState(faults: Faults, endpoint: (typeof ENDPOINTS)[number]): object {
  const { always, once } = faults.ordered(endpoint)
  return { always: always === undefined ? null : orderShown(always), once: once.map(orderShown) }
}

/** A function and a promise have no JSON: their place says so. */
function orderShown(order: object): object {
  if (typeof order === 'function') return { bend: 'function' }
  return 'hold' in order && order.hold !== undefined ? { ...order, hold: 'promise' } : order
}
