/**
 * Who signed in: an account's name, from an e-mail that the service took, or from the id_token that came with the tokens.
 *
 * A sign-in in a browser proves that somebody signed in at the service, not who: what they typed elsewhere is a hint, and
 * anybody could type another's e-mail and paste a code of their own. The id_token says who. It is believed without a look
 * at its signature because it comes straight from the token endpoint, whose TLS certificate was checked: OpenID Connect
 * Core 1.0, section 3.1.3.7, rule 6. An id_token that came any other way must not be given to these functions.
 */
import { type CallOptions, type TokenSet, UnexpectedResponseError } from '@owner-sso/token-manager'
import { parseCallOptions, spelledAlike, whatCame, withoutClient } from '@owner-sso/token-manager/support'
import type { Sso } from './sso.ts'

/** An owner whom the service has vouched for. */
export interface TokenOwner {
  /** The name that tokens are kept under: the e-mail in lower case; `sub:` and the subject where no e-mail was proved. */
  readonly account: string
  /** As typed, or as the service spells it. */
  readonly email?: string
}

/** An e-mail can't begin like this: RFC 5322 has no colon before the `@`. So a subject is nobody's e-mail. */
const subjectPrefix = 'sub:'

/** Whether an account's name is that of a subject, not an e-mail. */
export function isSubjectAccount(account: string): boolean {
  return account.startsWith(subjectPrefix)
}

/**
 * The account that somebody names: by an e-mail, as {@link ownerOfEmail} has it, or by the name of a subject (`sub:…`), which
 * stays as it is but for surrounding spaces. Everything that keeps tokens under a name takes the name from here: two names
 * of one person are two token sets, and one of them is found no more.
 */
export function accountName(named: string): string {
  const name = text(named, 'the name of an account').trim()
  return isSubjectAccount(name) ? name : ownerOfEmail(name).account
}

/**
 * The owner of an e-mail. Their account's name is the e-mail without surrounding spaces and with A–Z in lower case, so
 * that one person is one account.
 *
 * @throws TypeError for what can be no e-mail because it would name a subject
 */
export function ownerOfEmail(email: string): TokenOwner {
  const trimmed = text(email, 'an e-mail').trim()
  const account = spelledAlike(trimmed)
  if (isSubjectAccount(account)) throw new TypeError(`an e-mail can’t begin with "${subjectPrefix}"`)
  return { account, email: trimmed }
}

function text(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new TypeError(`${what} must be a string`)
  return value
}

/**
 * Whose tokens these are: by the e-mail of their id_token if the service has verified it, else by its subject. The
 * interface document has the id_token on a refresh only, so tokens without one are refreshed: one request.
 *
 * @param tokens - straight from the token endpoint
 * @returns the owner, and the tokens to keep: the given ones are spent where they had to be refreshed
 * @throws UnexpectedResponseError where the id_token is missing, unreadable, over, made for another client or by another
 *   issuer, or names nobody; what `refresh` throws
 */
export async function identifyOwner(
  sso: Pick<Sso, 'refresh'> & Partial<Pick<Sso, 'clientId' | 'tokenUrlOf'>>,
  tokens: TokenSet,
  options: CallOptions = {},
): Promise<{ readonly owner: TokenOwner; readonly tokens: TokenSet }> {
  const call = parseCallOptions('identifyOwner(sso, tokens, { signal })', options)
  if (typeof sso?.refresh !== 'function') throw new TypeError(`sso must be what createSso() returns${whatCame(sso)}`)
  if (typeof tokens !== 'object' || tokens === null) throw new TypeError('tokens must be a token set')
  const named = tokens.id_token === undefined ? await sso.refresh(tokens, call) : tokens
  const auth_url = withoutClient(named.auth_url)
  // The token endpoint of a registered application signs in its own name.
  const issuers = [auth_url, ...(sso.tokenUrlOf === undefined ? [] : [sso.tokenUrlOf(auth_url)])]
  return { owner: ownerOfClaims(await claimsOf(named.id_token), issuers, sso.clientId ?? 'ownerapi'), tokens: named }
}

/**
 * Whether tokens name another owner than the account that they are meant for, as far as that can be told: an account that is
 * an e-mail by the e-mail of the id_token, verified or not; one that is a subject (`sub:…`) by the subject of the id_token or
 * the access token.
 *
 * @param tokens - straight from the token endpoint
 */
export async function isOfAnotherOwner(tokens: TokenSet, account: string): Promise<boolean> {
  const [identity, access] = await Promise.all([readableClaims(tokens.id_token), readableClaims(tokens.access_token)])
  if (isSubjectAccount(account)) {
    const sub = identity['sub'] ?? access['sub']
    return isSubject(sub) && subjectPrefix + sub !== account
  }
  const email = identity['email'] ?? access['email']
  return isEmail(account) && isEmail(email) && ownerOfEmail(email).account !== accountName(account)
}

async function readableClaims(token: string | undefined): Promise<Claims> {
  return claimsOf(token).catch(() => ({}))
}

type Claims = Readonly<Record<string, unknown>>

function ownerOfClaims(claims: Claims, issuers: readonly string[], clientId: string): TokenOwner {
  const { iss, aud, azp, exp, email, email_verified: emailVerified, sub } = claims
  if (!issuers.some((issuer) => isOfInstance(iss, issuer))) throw unusable('was made by another issuer')
  const audiences = [aud].flat()
  // The client is the audience and the authorized party (section 3.1.3.7, rules 3 to 5).
  const isForUs = audiences.includes(clientId) && (audiences.length === 1 || azp !== undefined)
  if (!isForUs || (azp !== undefined && azp !== clientId)) throw unusable('was made for another client')
  if (typeof exp !== 'number' || exp * 1000 <= Date.now()) throw unusable('is over')
  if (emailVerified === true && isEmail(email)) return ownerOfEmail(email)
  if (isSubject(sub)) return { account: subjectPrefix + sub }
  throw unusable('names nobody')
}

/** Whether this is an address of the instance that issued the tokens: `issuer` has a base path there, or none. */
function isOfInstance(issuer: unknown, authUrl: string): boolean {
  if (typeof issuer !== 'string' || !URL.canParse(issuer)) return false
  const { origin, username, password } = new URL(issuer)
  return origin === new URL(authUrl).origin && username === '' && password === ''
}

async function claimsOf(idToken: string | undefined): Promise<Claims> {
  if (idToken === undefined) throw unusable('is missing')
  const { decodeJwt } = await import('jose/jwt/decode')
  try {
    return decodeJwt(idToken)
  } catch {
    throw unusable('can’t be read')
  }
}

function isEmail(claim: unknown): claim is string {
  return typeof claim === 'string' && claim.length <= 320 && /^[^@:]+@[^@]+$/u.test(claim.trim())
}

/** OpenID Connect Core 1.0, section 2: at most 255 ASCII characters, case-sensitive. */
function isSubject(claim: unknown): claim is string {
  return typeof claim === 'string' && /^[\x21-\x7e]{1,255}$/u.test(claim)
}

function unusable(problem: string): UnexpectedResponseError {
  return new UnexpectedResponseError(`its id_token ${problem}, so the owner of these tokens is unknown`, {
    step: 'refresh',
  })
}
