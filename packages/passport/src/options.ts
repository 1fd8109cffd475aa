/**
 * The strategy's options: what they are, and whether they make sense.
 */
import { types } from 'node:util'
import {
  checkOption,
  checkOptions,
  createSso,
  createTokenManager,
  kinds,
  type OptionRow,
  type OptionRows,
  type Sso,
  ssoOptionRows,
  type SsoOptions,
  ssoOptionsFromEnvironment,
  type TokenManager,
  type TokenSet,
} from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import type { Request } from 'express'
import { type FormAdvisor, formAdvisor } from './form-advisor.ts'
import { memoryPendingLogins, type PendingLogins } from './pending-logins.ts'
import type { FieldNames } from './request-fields.ts'
import { sealedPendingLogins } from './sealed-pending-logins.ts'
import { type Kept, type Submissions, submissions } from './submissions.ts'
import { type OwnerSsoUser, type Verdict, verdictOn, type Verify, type VerifyWithRequest } from './verify.ts'

/** All of them have a default. Those of `createSso` may be given with them. */
export interface StrategyOptions extends Omit<SsoOptions, 'authUrl'> {
  /** Base address of the SSO service. Default: `OWNER_SSO_AUTH_URL`, with what else the environment says of it. */
  readonly authUrl?: string | undefined
  /** The service: what `createSso` made. Default: by the options of `createSso` given in its place. */
  readonly sso?: Sso | undefined
  /** Has the tokens of everybody who signs in. It is `strategy.tokens` as well. Default: over a memory store. */
  readonly tokens?: TokenManager | undefined
  /** `'form'`: e-mail and password in the application's own form. `'browser'`: on the service's own page. Default: `'form'`. */
  readonly mode?: 'form' | 'browser' | undefined
  /** Body field of the e-mail. Default: `identity`. */
  readonly identityField?: string | undefined
  /** Body field of the password. Default: `credential`. */
  readonly credentialField?: string | undefined
  /** Puts the request in front of verify's arguments. Default: `false`. */
  readonly passReqToCallback?: false | undefined
  /** Seconds for which a sign-in waits for its next step; in mode `form` 300 at most. Default: 300, in mode `browser` 900. */
  readonly pendingLoginTtl?: number | undefined
  /** 32 bytes. Seals pending sign-ins into the session, for several instances; without it they stay in this process's memory. */
  readonly pendingLoginKey?: Uint8Array | undefined
}

/** The same, with the request in front of verify's arguments. */
export interface StrategyOptionsWithRequest extends Omit<StrategyOptions, 'passReqToCallback'> {
  readonly passReqToCallback: true
}

/** The options, read once. */
export interface StrategySettings {
  readonly sso: Sso
  readonly tokens: TokenManager
  readonly mode: 'form' | 'browser'
  readonly fields: FieldNames
  readonly advise: FormAdvisor
  readonly pendingLogins: PendingLogins
  /** Answers to pending logins; `undefined` where another answer was faster. */
  readonly answers: Submissions<Kept | undefined>
  /** E-mails and passwords. */
  readonly beginnings: Submissions<Kept>
  readonly pendingLoginTtl: number
  readonly verdict: (request: Request, owner: OwnerSsoUser, tokens: TokenSet) => Promise<Verdict>
}

const fieldName: OptionRow = {
  must: 'the name of a body field',
  fits: (value) => typeof value === 'string' && value !== '',
}

const rows: OptionRows<StrategyOptions> = {
  ...ssoOptionRows,
  sso: kinds.having('what createSso() returns', 'beginLogin'),
  tokens: kinds.having('what createTokenManager() returns', 'save', 'getAccessToken'),
  mode: kinds.oneOf('form', 'browser'),
  identityField: fieldName,
  credentialField: fieldName,
  passReqToCallback: kinds.boolean,
  pendingLoginTtl: {
    must: 'a number of seconds, at most a day',
    fits: (value) => typeof value === 'number' && value > 0 && value <= 86_400,
  },
  pendingLoginKey: {
    must: "32 bytes (a Uint8Array), such as Buffer.from(text, 'base64')",
    fits: (value) => types.isUint8Array(value) && value.length === 32,
  },
}

/** @throws TypeError that names the option, or says what to set. */
export function parseStrategyOptions(
  options: StrategyOptions | StrategyOptionsWithRequest,
  verify: Verify | VerifyWithRequest | undefined,
): StrategySettings {
  checkOptions<object>('OwnerSsoStrategy', options, rows)
  if (verify !== undefined) checkOption('verify', kinds.function, verify)
  const { mode = 'form', tokens, pendingLoginKey, passReqToCallback = false } = options
  const { pendingLoginTtl = mode === 'browser' ? 900 : 300 } = options
  if (verify !== undefined) checkParameters(verify.length, passReqToCallback)
  const { identityField: identity = 'identity', credentialField: credential = 'credential' } = options
  const fields = { identity, credential }
  const sso = ssoOf(options)
  if (sso.service === 'registered' && mode === 'form')
    throw new TypeError('mode must be "browser": a registered application has no login form to fill in')
  // The token manager may have an sso of its own: both share what either learns of the firewall, as does everybody with its store.
  tokens?.shareFirewallState(sso)
  const manager = tokens ?? createTokenManager({ issuer: sso, store: memoryTokenStore() })
  return {
    sso,
    tokens: manager,
    mode,
    fields,
    advise: formAdvisor(fields),
    pendingLogins: pendingLoginKey
      ? sealedPendingLogins(pendingLoginKey, (login) => manager.claimTry(login))
      : memoryPendingLogins(),
    answers: submissions(),
    beginnings: submissions(),
    pendingLoginTtl,
    verdict: (request, owner, tokenSet) => verdictOn(owner, tokenSet, verifyFor(request, verify, passReqToCallback)),
  }
}

/**
 * The service of the option `sso`, or of createSso's options given in its place. `authUrl` defaults to `OWNER_SSO_AUTH_URL`, and with
 * it what is not given to what the environment says of that service.
 */
function ssoOf({ sso, ...options }: StrategyOptions | StrategyOptionsWithRequest): Sso {
  const given = Object.fromEntries(
    Object.entries(options).filter(([name, value]) => value !== undefined && Object.hasOwn(ssoOptionRows, name)),
  )
  const { authUrl } = options
  if (sso === undefined)
    return createSso(authUrl === undefined ? { ...ssoOptionsFromEnvironment(), ...given } : { ...given, authUrl })
  const names = Object.keys(given)
  if (names.length > 0) throw new TypeError(`${names.join(', ')} can't be given together with sso`)
  return sso
}

/** verify as it is called for one request. */
function verifyFor(
  request: Request,
  verify: Verify | VerifyWithRequest | undefined,
  passReqToCallback: boolean,
): Verify | undefined {
  if (verify === undefined || !takesRequest(verify, passReqToCallback)) return verify
  return (signIn, done) => verify(request, signIn, done)
}

/** The option says which of both it is: counting the parameters of a function would be guesswork. */
function takesRequest(_verify: Verify | VerifyWithRequest, passReqToCallback: boolean): _verify is VerifyWithRequest {
  return passReqToCallback
}

/** More than it is ever given were written for another strategy, or for the request in front. @throws TypeError */
function checkParameters(count: number, passReqToCallback: boolean): void {
  const most = passReqToCallback ? 3 : 2
  if (count <= most) return
  const taken = `(${passReqToCallback ? 'req, ' : ''}{ account, tokens, profile }, done)`
  const remedy = count === 3 ? ': for the request in front, set passReqToCallback' : ''
  throw new TypeError(`verify takes ${taken}; one with ${count} parameters came${remedy}`)
}
