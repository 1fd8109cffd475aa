/**
 * The options of `createTokenManager` and the arguments of its calls, checked: a mistake is a `TypeError` that names it.
 */
import { isSealed } from '../store/sealed-token-store.ts'
import type {
  AccessTokenOptions,
  InvalidateOptions,
  RefreshCallOptions,
  RefreshTokenGrant,
  SaveOptions,
  TokenManagerOptions,
  WaitingSignIn,
} from './token-manager.ts'
import type { TokenIssuer } from '../issuer/token-issuer.ts'
import {
  howTokensAreLost,
  lostItsTokens,
  tokenSet,
  type TokenSet,
  bareTokenSet,
  isEpochSeconds,
} from '../issuer/token-set.ts'
import { jwtExpiry } from '../issuer/jwt-expiry.ts'
import { checkBudget } from '../gates/budget/request-budget.ts'
import {
  checkOption,
  checkOptions,
  isPromise,
  isStore,
  kinds,
  type OptionRow,
  type OptionRows,
  requireThat,
  whatCame,
} from '../support/options.ts'
import { isOwnRecordName } from '../store/own-record.ts'

/** All of them, with their defaults. */
export type ParsedTokenManagerOptions = {
  readonly [Name in keyof Omit<TokenManagerOptions, 'spool' | 'waitUntil' | 'requestBudget'>]-?: Exclude<
    TokenManagerOptions[Name],
    undefined
  >
} & Pick<TokenManagerOptions, 'spool' | 'waitUntil' | 'requestBudget'>

const tokenStore: OptionRow = { must: 'a token store', fits: isStore }
const fraction: OptionRow = {
  must: 'a fraction above 0, at most 1',
  fits: (value) => typeof value === 'number' && value > 0 && value <= 1,
  isFigure: true,
}
const here = kinds.oneOf('here', 'elsewhere')

const rows: OptionRows<TokenManagerOptions> = {
  issuer: kinds.required(kinds.having('what createSso() returns, or another TokenIssuer', 'refresh')),
  store: kinds.required(tokenStore),
  spool: tokenStore,
  refreshAfter: fraction,
  minRefreshInterval: kinds.number('seconds, 0 or more'),
  rotationGrace: kinds.number('seconds, 0 or more'),
  requestBudget: kinds.any,
  cachedAccounts: kinds.whole(1),
  background: kinds.boolean,
  waitUntil: kinds.function,
  refresh: here,
}

export function parseTokenManagerOptions(options: TokenManagerOptions): ParsedTokenManagerOptions {
  const {
    issuer,
    store,
    refreshAfter = 0.75,
    minRefreshInterval = 60,
    rotationGrace = 0,
    cachedAccounts = 10_000,
    spool,
    background = true,
    waitUntil,
    requestBudget,
    refresh = 'here',
  } = checkOptions('createTokenManager', options, rows)
  requireThat(spool !== store, 'spool must be a different token store from store')
  requireThat(
    spool === undefined || isSealed(spool) || !isSealed(store),
    'spool must be sealed because store is: give it an encryption key',
  )
  if (requestBudget !== undefined) checkBudget(requestBudget)
  const figures = { refreshAfter, minRefreshInterval, rotationGrace, cachedAccounts }
  return { issuer, store, spool, ...figures, background, waitUntil, requestBudget, refresh }
}

/** The option `refresh` from text. @param where - what the text is, for the error @throws TypeError */
export function refreshFromText(text: string, where: string): 'here' | 'elsewhere' {
  checkOption(where, here, text)
  return text === 'elsewhere' ? text : 'here'
}

export const refreshRows: OptionRows<RefreshCallOptions> = {
  signal: kinds.any,
  priority: kinds.oneOf('caller', 'background'),
}
export const accessTokenRows: OptionRows<AccessTokenOptions> = {
  signal: kinds.any,
  minValidity: kinds.number('seconds, 0 or more'),
}
export const invalidateRows: OptionRows<InvalidateOptions> = { refresh: kinds.boolean }

/** A name, where token sets can be kept under it. @throws TypeError for what cannot be the name of an account */
export function checkedAccountName(account: string): string {
  requireThat(
    typeof account === 'string' && account !== '',
    `account must be a non-empty string${whatCame(account || undefined)}`,
  )
  // Half a character has no UTF-8, so it can be the name of no file, of no key, and of nothing that is hashed.
  requireThat(!/\p{Surrogate}/u.test(account), 'account must be a string of whole Unicode characters')
  requireThat(!isOwnRecordName(account), 'account must not begin like the names of our own records')
  return account
}

/**
 * An e-mail without surrounding spaces and with A–Z in lower case. Only A–Z: full Unicode lower-casing folds other letters into
 * ASCII (the Kelvin sign becomes `k`), and a look-alike registered with the service would be handed somebody else's account.
 */
export const spelledAlike = (email: string): string =>
  email.trim().replaceAll(/[A-Z]/gu, (letter) => letter.toLowerCase())

/** Under which name an account is kept: an e-mail however it is spelled. Of other names nobody knows whether capitals count. */
export function nameOfAccount(account: string): string {
  const name = checkedAccountName(account)
  return /^[^@:]+@[^@:]+$/u.test(name) ? spelledAlike(name) : name
}

export function checkedAccessToken(accessToken: string): string {
  const isToken = typeof accessToken === 'string' && accessToken !== ''
  requireThat(isToken, `accessToken must be a non-empty string${whatCame(accessToken || undefined)}`)
  return accessToken
}

export function checkedAnswer(signIn: WaitingSignIn): WaitingSignIn {
  requireThat(
    typeof signIn === 'object' && signIn !== null,
    'claimTry takes an object with id, step, tries, expires_at',
  )
  const { id, step, tries, expires_at } = signIn
  requireThat(typeof id === 'string' && id !== '', 'id must be a non-empty string')
  requireThat(step === 'passcode' || step === 'callback', "step must be 'passcode' or 'callback'")
  requireThat(Number.isInteger(tries) && tries >= 0, 'tries must be a whole number, 0 or more')
  checkEpochSeconds('expires_at', expires_at)
  return signIn
}

/** @throws TypeError naming the field, never its value; RegionNotAllowedError for an instance that the issuer does not refresh at */
export async function checkedTokens(
  tokens: TokenSet | RefreshTokenGrant,
  issuer: Pick<TokenIssuer, 'authUrl' | 'allowedAuthUrl'>,
): Promise<TokenSet> {
  const isObject = typeof tokens === 'object' && tokens !== null && !Array.isArray(tokens) && !isPromise(tokens)
  requireThat(isObject, `tokens must be a token set${whatCame(tokens)}`)
  const remedy = 'save the token set itself, or JSON.parse(JSON.stringify(tokens))'
  requireThat(!lostItsTokens(tokens), `tokens is ${howTokensAreLost}; ${remedy}`)
  const { refresh_token, auth_url = issuer.authUrl } = tokens
  const history = 'history' in tokens ? tokens.history : undefined
  requireThat(history === undefined || typeof history === 'string', 'tokens.history must be a string')
  requireThat(
    typeof refresh_token === 'string' && refresh_token !== '',
    'tokens.refresh_token must be a non-empty string',
  )
  requireThat(typeof auth_url === 'string' && auth_url !== '', 'tokens.auth_url must be a non-empty string')
  requireThat(URL.canParse(auth_url), 'tokens.auth_url must be an address')
  const instance = (await issuer.allowedAuthUrl?.(auth_url)) ?? auth_url
  if (!isTokenSet(tokens)) return broughtAlong({ ...tokens, auth_url: instance })
  // A set that core made names its instance; one without it is plain, so a copy has its tokens.
  return checkedTokenSet(tokens.auth_url === undefined ? tokenSet({ ...tokens, auth_url: instance }) : tokens)
}

/** With its access token, while that lives. @throws TypeError */
async function broughtAlong({
  refresh_token,
  access_token,
  expires_at,
  auth_url,
}: RefreshTokenGrant & { readonly auth_url: string }): Promise<TokenSet> {
  const bare = bareTokenSet({ refresh_token, auth_url })
  if (access_token === undefined) return bare
  requireThat(typeof access_token === 'string' && access_token !== '', 'tokens.access_token must be a non-empty string')
  if (expires_at !== undefined) checkEpochSeconds('tokens.expires_at', expires_at)
  const ends = expires_at === undefined ? (await jwtExpiry())(access_token) : expires_at * 1000
  if (ends === undefined || ends <= Date.now()) return bare
  return tokenSet({ refresh_token, auth_url, access_token, token_type: 'Bearer', expires_at: Math.floor(ends / 1000) })
}

/** Whether `save` ends a session that is there: a sign-in does, a refresh token that was brought along does not. */
export function replacesSession(tokens: TokenSet | RefreshTokenGrant, options: SaveOptions = {}): boolean {
  const { replace = isTokenSet(tokens) } = checkOptions('save', options, { replace: kinds.boolean })
  return replace
}

/** Whether it is the whole answer to a sign-in, and not what another client kept of one. */
export function isTokenSet(tokens: TokenSet | RefreshTokenGrant): tokens is TokenSet {
  return 'access_token' in tokens && tokens.access_token !== undefined && 'token_type' in tokens
}

function checkedTokenSet(tokens: TokenSet): TokenSet {
  for (const field of ['access_token', 'token_type'] as const) {
    requireThat(typeof tokens[field] === 'string' && tokens[field] !== '', `tokens.${field} must be a non-empty string`)
  }
  checkEpochSeconds('tokens.expires_at', tokens.expires_at)
  // Optional, but what is stored has to be what is read back.
  for (const [field, type] of [
    ['id_token', 'string'],
    ['state', 'string'],
    ['expires_in', 'number'],
  ] as const) {
    const value = tokens[field]
    requireThat(value === undefined || typeof value === type, `tokens.${field} must be a ${type}`)
  }
  return tokens
}

function checkEpochSeconds(name: string, value: unknown): void {
  const came = Number.isFinite(value) ? '; milliseconds came' : whatCame(value)
  requireThat(isEpochSeconds(value), `${name} must be seconds since the epoch${came}`)
}
