/**
 * The control API: every switch of the emulator over JSON. Each change answers with the state that it led to.
 */
import express, { Router, type Request } from 'express'
import { problemResponse } from '../answers/guard.ts'
import { checkEndpoint, endpoints, type Endpoint } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import { jsonResponse, sendResponse } from '../http/service-response.ts'
import type { ChangeableOptions } from '../options/check-options.ts'
import { boolean, checkEach, isRecord, oneOf, seconds, type Check, type Checks } from '../options/checks.ts'
import { isOptionName, optionNames, optionTable, type OptionName } from '../options/option-table.ts'
import { stepSeconds, type Account } from '../state/accounts.ts'
import type { ServiceState } from '../state/service-state.ts'
import { maskText } from '../support/plain-fields.ts'
import type { Handles } from '../switches/handles.ts'
import { checkScenario } from '../switches/scenarios.ts'

export function controlRouter(service: ServiceState, faults: Faults, handles: Handles): Router {
  const router = Router()
  router.use(express.json({ limit: '1mb' }))
  const state = (): object => controlState(service, faults, handles)

  /** Does it and answers with the state; a TypeError is the caller's mistake. None is a body without fields. */
  function on(
    method: 'patch' | 'put' | 'post' | 'delete',
    path: string,
    act: (name: string, body: Request['body']) => unknown,
  ): void {
    router[method](path, async ({ params, body }: Request, response) => {
      try {
        act(String(params['name']), body ?? {})
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        await sendResponse(response, problemResponse(400, 'invalid_request', error.message))
        return
      }
      await sendResponse(response, jsonResponse(200, state()))
    })
  }

  router.get('/state', (_request, response) => sendResponse(response, jsonResponse(200, state())))
  on('patch', '/options', (_name, body) => handles.change(orDefaults(body)))
  on('patch', '/accounts/:name', (identity, body) => handles.account(identity).change(body))
  on('delete', '/accounts/:name/access-tokens', (identity) => handles.revokeAccessTokens(identity))
  on('delete', '/accounts/:name/refresh-tokens', (identity) => handles.expireRefreshTokens(identity))
  on('post', '/clock', (_name, body) => setClock(handles, body))
  on('post', '/firewall', (_name, body) => setFirewall(handles, body))
  on('put', '/faults/:name', (endpoint, body) => faults.always(endpointOf(endpoint), body))
  on('post', '/faults/:name', (endpoint, body) => faults.once(endpointOf(endpoint), body))
  on('delete', '/faults/:name', (endpoint) => faults.clear(endpointOf(endpoint)))
  on('post', '/scenarios/:name', (name) => {
    checkScenario(name)
    handles.applyScenario(name)
  })
  on('post', '/reset', () => handles.reset())
  return router
}

function endpointOf(name: string): Endpoint {
  checkEndpoint(name)
  return name
}

/** Null puts an option back to its default (RFC 7396), except where null is one of its values. */
function orDefaults(options: ChangeableOptions): ChangeableOptions {
  if (!isRecord(options)) return options
  return Object.fromEntries(
    Object.entries(options).map(([name, value]: [string, unknown]) => [
      name,
      value === null && !(isOptionName(name) && optionTable[name].check.accepts(null)) ? undefined : value,
    ]),
  )
}

/** `jump`: seconds since the epoch, or an ISO date; `advance`: seconds, negative ones move it back. */
interface ClockOrder {
  readonly reset?: boolean
  readonly jump?: number | string
  readonly advance?: number
  readonly frozen?: boolean
}

/** `block`: seconds, or true: as long as the option `firewall` has it. */
interface FirewallOrder {
  readonly lift?: true
  readonly block?: true | number
}

const clockChecks: Checks<ClockOrder> = {
  reset: boolean(),
  jump: {
    expected: 'seconds since the epoch or an ISO date',
    accepts: (value): value is number | string => Number.isFinite(momentOf(value)),
  },
  advance: { expected: 'a number of seconds', accepts: (value): value is number => Number.isFinite(value) },
  frozen: boolean(),
}

const firewallChecks: Checks<FirewallOrder> = {
  lift: oneOf(true),
  block: {
    expected: 'true or a number of seconds',
    accepts: (value) => value === true || seconds().accepts(value),
  },
}

/** In the order of its fields. @throws {TypeError} A field is unknown or wrong; nothing has happened. */
function setClock({ clock }: Handles, order: object): void {
  const { reset, jump, advance, frozen } = checked(order, clockChecks)
  if (reset) clock.reset()
  if (jump !== undefined) clock.jump(momentOf(jump))
  if (advance !== undefined) clock.advance(advance)
  if (frozen === true) clock.freeze()
  if (frozen === false) clock.unfreeze()
}

function setFirewall({ firewall }: Handles, order: object): void {
  const { lift, block } = checked(order, firewallChecks)
  if (lift) firewall.lift()
  if (block !== undefined) firewall.block(block === true ? undefined : block)
}

function checked<Order>(order: object, checks: Checks<Order> & Readonly<Record<string, Check>>): Order {
  checkEach('field', '', order, checks)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field was checked
  return order as Order
}

function momentOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? Date.parse(value) / 1000 : Number.NaN
}

/**
 * Everything that can be switched, with its present value, as JSON; null stands for what there is not, times are seconds since the
 * epoch by the emulator's clock. No secret is in it but the passcodes of this moment.
 */
function controlState({ instances, settings, accounts, ownerApiUrl }: ServiceState, faults: Faults, handles: Handles) {
  const { clock, firewall, counters, failures } = handles
  return {
    authUrl: instances.home.url,
    regionalAuthUrl: instances.regional.url,
    ownerApiUrl,
    tokenUrl: instances.home.tokenUrl,
    regionalTokenUrl: instances.regional.tokenUrl,
    clock: { now: clock.now(), offset: clock.offset, frozen: clock.frozen },
    firewall: { blockedUntil: firewall.blockedUntil ?? null },
    options: Object.fromEntries(optionNames.map((name) => [name, shown(name)] as const)),
    accounts: accounts.all.map((account) => accountState(account, clock.now())),
    faults: Object.fromEntries(endpoints.map((endpoint) => [endpoint, faultState(faults, endpoint)])),
    failures: failures.map(({ where, error }) => ({ where, error: String(error) })),
    counters,
  }

  function shown(name: OptionName): unknown {
    if (name === 'accounts') return settings.accounts.map(({ identity }) => identity)
    return name === 'clientSecret' ? maskText : (settings[name] ?? null)
  }
}

function accountState({ identity, region, locked, captcha, factors, backupCodes }: Account, now: number) {
  const passcodes = factors.map((factor) => ({
    id: factor.id,
    name: factor.name,
    passcode: factor.passcode(now),
    secondsLeft: stepSeconds - (now % stepSeconds),
  }))
  return { identity, region, locked, captcha, factors: passcodes, backupCodesLeft: backupCodes.length }
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
