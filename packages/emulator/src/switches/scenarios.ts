/**
 * The scenarios worth showing: each has a name, a sentence, and the switches it sets.
 */
import type { AccountSwitches } from '../options/account-options.ts'
import { endpoints, type Endpoint, type Fault } from '../faults/fault.ts'
import type { ChangeableOptions } from '../options/options.ts'

/** A named state of the service: options, faults and accounts that are switched together. */
export interface Scenario {
  /** What happens, in one sentence. */
  readonly about: string
  readonly options?: ChangeableOptions
  /** Of every account. */
  readonly accounts?: AccountSwitches
  /** The next request there. */
  readonly once?: Partial<Record<Endpoint, Fault>>
  /** Every request there. */
  readonly always?: Partial<Record<Endpoint, Fault>>
  /** The firewall challenges everybody from now on. */
  readonly blocked?: true
  /** All tokens that there are end. */
  readonly ended?: true
}

const lostResponse: Scenario['once'] = { refresh: { drop: 'after-commit' } }
const htmlHeaders = { 'content-type': 'text/html; charset=utf-8' }

const table = {
  'rotation-lost': {
    about: 'The next refresh spends the refresh token, and its answer is lost.',
    options: { rotation: 'single-use', reuse: 'refuse' },
    once: lostResponse,
  },
  'rotation-forgiven': {
    about: 'The next refresh is lost, but the spent refresh token gets the same answer again for a minute.',
    options: { rotation: 'single-use', reuse: 'grace' },
    once: lostResponse,
  },
  'rotation-omitted': {
    about: 'A refresh gives no new refresh token: the old one stays good.',
    options: { rotation: 'omit' },
  },
  'family-revoked': {
    about:
      'The next refresh is lost, and a spent refresh token that comes again takes all tokens of its sign-in with it.',
    options: { rotation: 'single-use', reuse: 'revoke-family' },
    once: lostResponse,
  },
  'early-revocation': {
    about: 'The owner API refuses the next call, long before its access token has expired.',
    once: {
      'owner-api': {
        status: 401,
        headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
        body: { response: null, error: 'invalid_token', error_description: 'The access token was revoked' },
      },
    },
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
  'refresh-token-expired': {
    about: 'Every refresh is answered with login_required: the owner has to sign in again.',
    always: {
      refresh: { status: 400, body: { error: 'login_required', error_description: 'The refresh_token is expired.' } },
    },
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
  'firewall-at-refresh': {
    about: 'The next refresh meets the challenge page that only runs a script.',
    once: { refresh: { firewall: 'script' } },
  },
  'wrong-region': { about: 'Every account lives in the other region.', accounts: { region: 'regional' } },
  captcha: { about: 'Every account meets a captcha on its login page.', accounts: { captcha: true } },
  'captcha-after-submission': {
    about: 'Every account meets a captcha once its form was submitted.',
    accounts: { captcha: 'after-submission' },
  },
  'locked-account': { about: 'Every account is locked.', accounts: { locked: true } },
  'mfa-at-form': {
    about: 'The passcode page comes at the form submission, as recorded, and not at the code exchange.',
    options: { mfaAt: 'form-submission' },
  },
  'renamed-inputs': {
    about: 'The hidden inputs of the login page have other names, one more comes, and all stand in a script template.',
    options: {
      hiddenInputs: {
        rename: { _csrf: 'check', _phase: 'stage', _process: 'run', transaction_id: 'tx', cancel: 'stop' },
        extra: { locale: 'en-US' },
        inTemplate: true,
      },
    },
  },
  'raw-challenge': {
    about: "Only RFC 7636's code challenge is accepted, not the document's reference computation.",
    options: { codeChallengeEncoding: 'raw-digest' },
  },
  'slow-service': { about: 'Every answer takes three seconds.', options: { latency: 3000 } },
  'service-down': { about: 'Every request is answered with 503.', always: everywhere({ status: 503 }) },
  'broken-json': {
    about: 'The answers of the token endpoint are cut in the middle of their JSON.',
    always: { token: { bodyLength: 60 }, refresh: { bodyLength: 60 } },
  },
  'html-for-json': {
    about: 'The token endpoint answers with a page where JSON was expected.',
    always: { token: page(), refresh: page() },
  },
  'oversized-page': {
    about: 'The login page has 16 MiB.',
    always: { 'login-page': { bodyLength: 16 * 1024 ** 2 } },
  },
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

function page(): Fault {
  return {
    status: 200,
    headers: htmlHeaders,
    body: '<!doctype html><title>Back soon</title><p>We are improving our service.</p>',
  }
}
