/**
 * The control API: every switch of the emulator over JSON. Each change answers with the state that it led to.
 */
import express, { Router, type Request } from 'express'
import type { Account } from '../state/accounts.ts'
import type { Clock } from '../state/clock.ts'
import type { Firewall } from '../state/firewall.ts'
import { boolean, checkEach, isRecord, oneOf, seconds, type Check, type Checks } from '../options/checks.ts'
import { checkEndpoint, type Endpoint } from '../faults/fault.ts'
import { jsonResponse, sendResponse } from '../http/service-response.ts'
import { switchAccount, type ChangeableOptions } from '../options/check-options.ts'
import { isOptionName, optionTable } from '../options/option-table.ts'
import { checkScenario } from '../switches/scenarios.ts'
import { controlState, type Controlled } from './state.ts'
import { problemResponse } from '../answers/guard.ts'

export function switchesRouter(controlled: Controlled): Router {
  const { service, faults, switches } = controlled
  const router = Router()
  router.use(express.json({ limit: '1mb' }))

  /**
   * Does it and answers with the state; a TypeError is the caller's mistake. What a body may hold is checked by whoever takes it:
   * none is one without fields.
   */
  function on(
    method: 'patch' | 'put' | 'post' | 'delete',
    path: string,
    act: (name: string, body: Request['body']) => void,
  ): void {
    router[method](path, async ({ params, body }: Request, response) => {
      try {
        act(String(params['name']), body ?? {})
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        await sendResponse(response, problemResponse(400, 'invalid_request', error.message))
        return
      }
      await sendResponse(response, jsonResponse(200, controlState(controlled)))
    })
  }
  function accountOf(identity: string): Account {
    const known = service.accounts.find(identity)
    if (!known) throw new TypeError(`The emulator has no account ${identity}`)
    return known
  }

  router.get('/state', (_request, response) => sendResponse(response, jsonResponse(200, controlState(controlled))))
  on('patch', '/options', (_name, body) => switches.change(orDefaults(body)))
  on('patch', '/accounts/:name', (identity, body) => switchAccount(accountOf(identity), body))
  on('delete', '/accounts/:name/access-tokens', (identity) => {
    const revoked = accountOf(identity)
    service.accessTokens.revoke(({ account }) => account === revoked)
  })
  on('delete', '/accounts/:name/refresh-tokens', (identity) => void service.refreshTokens.expire(accountOf(identity)))
  on('post', '/clock', (_name, body) => setClock(service.clock, body))
  on('post', '/firewall', (_name, body) => setFirewall(service.firewall, body))
  on('put', '/faults/:name', (endpoint, body) => faults.always(endpointOf(endpoint), body))
  on('post', '/faults/:name', (endpoint, body) => faults.once(endpointOf(endpoint), body))
  on('delete', '/faults/:name', (endpoint) => faults.clear(endpointOf(endpoint)))
  on('post', '/scenarios/:name', (name) => {
    checkScenario(name)
    switches.applyScenario(name)
  })
  on('post', '/reset', () => switches.reset())
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

interface ClockOrder {
  readonly reset?: boolean
  /** Seconds since the epoch, or an ISO date. */
  readonly jump?: number | string
  /** Seconds; negative ones move it back. */
  readonly advance?: number
  readonly frozen?: boolean
}

interface FirewallOrder {
  readonly lift?: true
  /** Seconds, or true: as long as the option `firewall` has it. */
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
function setClock(clock: Clock, order: object): void {
  const { reset, jump, advance, frozen } = checked(order, clockChecks)
  if (reset) clock.reset()
  if (jump !== undefined) clock.jump(momentOf(jump))
  if (advance !== undefined) clock.advance(advance)
  if (frozen === true) clock.freeze()
  if (frozen === false) clock.unfreeze()
}

/** In the order of its fields. @throws {TypeError} A field is unknown or wrong; nothing has happened. */
function setFirewall(firewall: Firewall, order: object): void {
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
