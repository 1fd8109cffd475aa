/**
 * The control API: every switch of the emulator over JSON. Each change answers with the state that it led to.
 */
import express, { Router, type Request, type RequestHandler } from 'express'
import type { Account } from '../service/accounts.ts'
import { isRecord } from '../options/checks.ts'
import { checkEndpoint } from '../faults/fault-checks.ts'
import type { Endpoint } from '../faults/fault.ts'
import { jsonResponse, sendResponse } from '../http/service-response.ts'
import { switchAccount } from '../switches/account-switches.ts'
import { isOptionName, optionTable } from '../options/option-table.ts'
import type { ChangeableOptions } from '../options/options.ts'
import { checkScenario, type ScenarioName } from '../switches/scenarios.ts'
import { setClock } from './clock-order.ts'
import { setFirewall } from './firewall-order.ts'
import { problemResponse } from './problem.ts'
import { controlState, type Controlled } from './state.ts'

/** What a body may hold is checked by whoever takes it; none is one without fields. */
const body: readonly RequestHandler[] = [
  express.json({ limit: '1mb' }),
  (request, _response, next) => {
    request.body ??= {}
    next()
  },
]

export function switchesRouter(controlled: Controlled): Router {
  const { service, faults, switches } = controlled
  const router = Router()

  /** Does it and answers with the state; a TypeError is the caller's mistake. */
  const change =
    (act: (request: Request) => void): RequestHandler =>
    async (request, response) => {
      try {
        act(request)
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        await sendResponse(response, problemResponse(400, 'invalid_request', error.message))
        return
      }
      await sendResponse(response, jsonResponse(200, controlState(controlled)))
    }
  const account = ({ params }: Request): Account => {
    const known = service.accounts.find(String(params['identity']))
    if (!known) throw new TypeError(`The emulator has no account ${String(params['identity'])}`)
    return known
  }

  router.get('/state', (_request, response) => sendResponse(response, jsonResponse(200, controlState(controlled))))
  router.patch(
    '/options',
    ...body,
    change((request) => switches.change(orDefaults(request.body))),
  )
  router.patch(
    '/accounts/:identity',
    ...body,
    change((request) => switchAccount(account(request), request.body)),
  )
  router.delete(
    '/accounts/:identity/access-tokens',
    change((request) => {
      const revoked = account(request)
      service.accessTokens.revoke((token) => token.account === revoked)
    }),
  )
  router.delete(
    '/accounts/:identity/refresh-tokens',
    change((request) => void service.refreshTokens.expire(account(request))),
  )
  router.post(
    '/clock',
    ...body,
    change((request) => setClock(service.clock, request.body)),
  )
  router.post(
    '/firewall',
    ...body,
    change((request) => setFirewall(service.firewall, request.body)),
  )
  router.put(
    '/faults/:endpoint',
    ...body,
    change((request) => faults.always(endpointOf(request), request.body)),
  )
  router.post(
    '/faults/:endpoint',
    ...body,
    change((request) => faults.once(endpointOf(request), request.body)),
  )
  router.delete(
    '/faults/:endpoint',
    change((request) => faults.clear(endpointOf(request))),
  )
  router.post(
    '/scenarios/:name',
    ...body,
    change((request) => switches.applyScenario(scenarioOf(request))),
  )
  router.post(
    '/reset',
    ...body,
    change(() => switches.reset()),
  )
  return router
}

function endpointOf({ params }: Request): Endpoint {
  const endpoint = String(params['endpoint'])
  checkEndpoint(endpoint)
  return endpoint
}

function scenarioOf({ params }: Request): ScenarioName {
  const name = String(params['name'])
  checkScenario(name)
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
