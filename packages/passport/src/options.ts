/**
 * The strategy's options: what they are, and whether they make sense.
 */
import { types } from 'node:util'
import {
  checkOptionNames,
  createTokenManager,
  type OptionNames,
  type Sso,
  ssoOptionNames,
  type SsoOptions,
  type TokenManager,
  type TokenSet,
} from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import type { Request } from 'express'
import { type FormAdvisor, formAdvisor } from './form-advisor.ts'
import type { OwnerSsoUser } from './owner.ts'
import { memoryPendingLogins, type PendingLogins } from './pending-logins.ts'
import type { FieldNames } from './request-fields.ts'
import { sealedPendingLogins } from './sealed-pending-logins.ts'
import { type SomeSsoOptions, ssoOf } from './sso-options.ts'
import { type Kept, type Submissions, submissions } from './submissions.ts'
import { type Verdict, verdictOn, type Verify, type VerifyWithRequest } from './verify.ts'

/** All of them have a default. Those of `createSso` may be given with them. */
export interface StrategyOptions extends SomeSsoOptions {
  /** The service: what `createSso` made, or its options. Default: createSso's options among these. */
  readonly sso?: Sso | SomeSsoOptions | undefined
  /** Has the tokens of everybody who signs in. Default: a token manager over a memory store. */
  readonly tokens?: TokenManager | undefined
  /** `form` (default): e-mail and password in the application's own form. `browser`: on the service's page. */
  readonly mode?: 'form' | 'browser' | undefined
  /** Body field of the e-mail. Default `identity`. */
  readonly identityField?: string | undefined
  /** Body field of the password. Default `credential`. */
  readonly credentialField?: string | undefined
  /** Body field of the passcode. Default `passcode`. */
  readonly passcodeField?: string | undefined
  /** Body field of the chosen factor's id. Default `factor`. */
  readonly factorField?: string | undefined
  /** Body field of a backup code, in place of a passcode. Default `backupCode`. */
  readonly backupCodeField?: string | undefined
  /** Body field of the pasted address. Default `callbackUrl`. */
  readonly callbackUrlField?: string | undefined
  /** Puts the request in front of verify's arguments: see {@link StrategyOptionsWithRequest}. Default false. */
  readonly passReqToCallback?: false | undefined
  /** Seconds for which a sign-in waits for its next step. Default 300; in mode `browser` 900. */
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
  verdict(request: Request, owner: OwnerSsoUser, tokens: TokenSet): Promise<Verdict>
}

const ownOptions: OptionNames<Omit<StrategyOptions, keyof SsoOptions>> = {
  sso: true,
  tokens: true,
  mode: true,
  identityField: true,
  credentialField: true,
  passcodeField: true,
  factorField: true,
  backupCodeField: true,
  callbackUrlField: true,
  passReqToCallback: true,
  pendingLoginTtl: true,
  pendingLoginKey: true,
}

/** @throws TypeError that names the option, or says what to set. */
export function parseStrategyOptions(
  options: StrategyOptions | StrategyOptionsWithRequest,
  verify: Verify | VerifyWithRequest | undefined,
): StrategySettings {
  checkOptionNames('OwnerSsoStrategy', options, { ...ownOptions, ...ssoOptionNames })
  expect(verify === undefined || typeof verify === 'function', 'verify', 'a function')
  const { mode = 'form', tokens, pendingLoginKey, passReqToCallback = false } = options
  const { pendingLoginTtl = mode === 'browser' ? 900 : 300 } = options
  expect(mode === 'form' || mode === 'browser', 'mode', '"form" or "browser"')
  expect(typeof passReqToCallback === 'boolean', 'passReqToCallback', 'a boolean')
  expect(isLifetime(pendingLoginTtl), 'pendingLoginTtl', 'a number of seconds, at most a day')
  if (verify !== undefined) checkParameters(verify.length, passReqToCallback)
  expect(isKey(pendingLoginKey), 'pendingLoginKey', "32 bytes (a Uint8Array), such as Buffer.from(text, 'base64')")
  expect(tokens === undefined || isTokenManager(tokens), 'tokens', 'what createTokenManager() returns')
  const fields = fieldNames(options)
  const sso = ssoOf(options)
  // The token manager may have an sso of its own: both share what either learns of the firewall, as does everybody with its store.
  tokens?.shareFirewallState(sso)
  const manager = tokens ?? createTokenManager({ sso, store: memoryTokenStore() })
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

function fieldNames(options: Partial<Record<`${keyof FieldNames}Field`, string | undefined>>): FieldNames {
  const name = (option: `${keyof FieldNames}Field`, fallback: string): string => {
    const field = options[option] === undefined ? fallback : options[option]
    expect(typeof field === 'string' && field !== '', option, 'the name of a body field')
    return field
  }
  return {
    identity: name('identityField', 'identity'),
    credential: name('credentialField', 'credential'),
    passcode: name('passcodeField', 'passcode'),
    factor: name('factorField', 'factor'),
    backupCode: name('backupCodeField', 'backupCode'),
    callbackUrl: name('callbackUrlField', 'callbackUrl'),
  }
}

function isLifetime(seconds: unknown): boolean {
  return typeof seconds === 'number' && seconds > 0 && seconds <= 86_400
}

function isKey(key: unknown): boolean {
  return key === undefined || (types.isUint8Array(key) && key.length === 32)
}

function isTokenManager(tokens: unknown): boolean {
  return typeof tokens === 'object' && tokens !== null && 'save' in tokens && 'getAccessToken' in tokens
}

function expect(condition: boolean, option: string, expected: string): void {
  if (!condition) throw new TypeError(`${option} must be ${expected}`)
}
