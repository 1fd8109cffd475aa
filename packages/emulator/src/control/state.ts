/**
 * What `GET /_emulator/state` shows, and the inspector once a second: everything that can be switched, with its present value.
 * No secret is in it but the passcodes of this moment.
 */
import { stepSeconds, type Account } from '../state/accounts.ts'
import { endpoints, type Endpoint } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import type { ServiceState } from '../state/service-state.ts'
import { optionNames, type OptionName } from '../options/option-table.ts'
import type { Switchboard } from '../switches/switchboard.ts'
import { maskText } from '../support/plain-fields.ts'
import type { EmulatorSettings } from '../options/check-options.ts'

/** What the control API speaks for. */
export interface Controlled {
  readonly service: ServiceState
  readonly faults: Faults
  readonly switches: Switchboard
  readonly ownerApiUrl: string
}

/** As JSON; null stands for what there is not. Times are seconds since the epoch by the emulator's clock. */
export type ControlState = ReturnType<typeof controlState>
export type AccountState = ControlState['accounts'][number]

export function controlState({ service, faults, switches, ownerApiUrl }: Controlled) {
  const { instances, clock, firewall, settings, accounts, counters } = service
  return {
    authUrl: instances.home.url,
    regionalAuthUrl: instances.regional.url,
    ownerApiUrl,
    tokenUrl: instances.home.tokenUrl,
    regionalTokenUrl: instances.regional.tokenUrl,
    clock: { now: clock.now(), offset: clock.offset, frozen: clock.frozen },
    firewall: { blockedUntil: firewall.blockedUntil ?? null },
    options: Object.fromEntries(optionNames.map((name) => [name, shown(name, settings)] as const)),
    accounts: accounts.all.map((account) => accountState(account, clock.now())),
    faults: Object.fromEntries(endpoints.map((endpoint) => [endpoint, faultState(faults, endpoint)])),
    failures: faults.failures.map(({ where, error }) => ({ where, error: String(error) })),
    counters,
    /** Those that were applied since the start or the last reset. */
    scenarios: [...switches.applied],
  }
}

/** A value as JSON has it: accounts have a list of their own and secrets. */
function shown(name: OptionName, settings: EmulatorSettings): unknown {
  if (name === 'accounts') return settings.accounts.map(({ identity }) => identity)
  if (name === 'clientSecret') return maskText
  return settings[name] ?? null
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

function faultState(faults: Faults, endpoint: Endpoint) {
  const { always, once } = faults.ordered(endpoint)
  return { always: always === undefined ? null : orderShown(always), once: once.map(orderShown) }
}

/** A function and a promise have no JSON: their place says so. */
function orderShown(order: object): object {
  if (typeof order === 'function') return { transform: 'function' }
  return 'hold' in order && order.hold !== undefined ? { ...order, hold: 'promise' } : order
}
