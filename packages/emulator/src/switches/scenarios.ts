/**
 * The scenarios worth showing: each has a name, a sentence, and the switches it sets.
 */
import { endpoints, type Endpoint, type Fault } from '../faults/fault.ts'
import type { ChangeableOptions } from '../options/check-options.ts'

/** A named state of the service: options and faults that are switched together. */
export interface Scenario {
  /** What happens, in one sentence. */
  readonly about: string
  readonly options?: ChangeableOptions
  /** The next request there. */
  readonly once?: Partial<Record<Endpoint, Fault>>
  /** Every request there. */
  readonly always?: Partial<Record<Endpoint, Fault>>
  /** The firewall challenges everybody from now on. */
  readonly blocked?: true
  /** All tokens that there are end. */
  readonly ended?: true
}

const table = {
  'rotation-lost': {
    about: 'The next refresh spends the refresh token, and its answer is lost.',
    options: { rotation: 'single-use', reuse: 'refuse' },
    once: { refresh: { drop: 'after-commit' } },
  },
  'refreshed-tokens-refused': {
    about: 'The owner API refuses access tokens that come of a refresh; the one before lives on.',
    options: { refreshedTokens: { status: 401, after: 0 }, oldAccessToken: 'lives' },
  },
  'refreshed-tokens-refused-403': {
    about: 'The same with status 403, as an edge in front of the owner API does it.',
    options: { refreshedTokens: { status: 403, after: 0 }, oldAccessToken: 'lives' },
  },
  'refreshed-tokens-for-three-hours': {
    about: 'The owner API takes access tokens that come of a refresh for three hours, and refuses them then.',
    options: { refreshedTokens: { status: 401, after: 10_800 }, oldAccessToken: 'lives' },
  },
  'refresh-ends-old-token': {
    about: 'A refresh ends the access token before it at once.',
    options: { refreshedTokens: null, oldAccessToken: 'ends' },
  },
  'sessions-ended': {
    about: 'All tokens of every account end now, as after a changed password: the owner has to sign in again.',
    ended: true,
  },
  'client-rejected': {
    about: 'Every refresh is answered with invalid_client, as after a changed client secret.',
    always: {
      refresh: { status: 401, body: { error: 'invalid_client', error_description: 'The client is not known.' } },
    },
  },
  'firewall-block': { about: 'The firewall challenges everybody, for as long as its block lasts.', blocked: true },
  'slow-service': { about: 'Every answer takes three seconds.', options: { latency: 3000 } },
  'service-down': { about: 'Every request is answered with 503.', always: everywhere({ status: 503 }) },
} satisfies Record<string, Scenario>

/** The names of all scenarios. */
export type ScenarioName = keyof typeof table

/** All of them, in the order in which they are shown. */
export const scenarios: Readonly<Record<ScenarioName, Scenario>> = table

/** @throws {TypeError} There is no such scenario. */
export function checkScenario(name: string): asserts name is ScenarioName {
  if (Object.hasOwn(scenarios, name)) return
  throw new TypeError(`Unknown scenario ${name}: one of ${Object.keys(scenarios).join(', ')}`)
}

function everywhere(fault: Fault): Partial<Record<Endpoint, Fault>> {
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint, fault]))
}
