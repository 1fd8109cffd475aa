/**
 * The query of both authorize calls (interface document, endpoints 1 and 2): presence, fixed values, no duplicates.
 */

/** What the service keeps of an authorization request. */
export interface AuthorizationRequest {
  readonly codeChallenge: string
  readonly redirectUri: string
  readonly state: string
}

/** The only client that there is. */
export const clientId = 'ownerapi'
/** What it always asks for. */
export const fixedScope = 'openid email offline_access'

/** Values that the document fixes. */
export const fixedParameters = {
  client_id: clientId,
  code_challenge_method: 'S256',
  response_type: 'code',
  scope: fixedScope,
} as const
const parameterNames = [...Object.keys(fixedParameters), 'code_challenge', 'redirect_uri', 'state', 'login_hint']
/** Room for the base64url of a digest, of its hexadecimal text, and padding. */
const challengePattern = /^[\w-]{43,128}={0,2}$/u
const maxStateLength = 1024

/** The request, or a sentence that names what is wrong with it. Parameters the document doesn't know are ignored. */
export function readAuthorizationRequest(
  query: URLSearchParams,
  isRedirectUri: (uri: string) => boolean,
): AuthorizationRequest | string {
  const repeated = parameterNames.find((name) => query.getAll(name).length > 1)
  if (repeated !== undefined) return `The parameter ${repeated} must not be repeated.`
  for (const [name, value] of Object.entries(fixedParameters)) {
    if (query.get(name) !== value) return `The parameter ${name} must be "${value}".`
  }
  const codeChallenge = query.get('code_challenge') ?? ''
  const redirectUri = query.get('redirect_uri') ?? ''
  const state = query.get('state') ?? ''
  if (!challengePattern.test(codeChallenge))
    return 'The parameter code_challenge must be a base64url SHA-256 challenge.'
  if (!isRedirectUri(redirectUri)) return 'The parameter redirect_uri is not a registered address.'
  if (state === '' || state.length > maxStateLength) return 'The parameter state must be a random string.'
  return { codeChallenge: codeChallenge.replace(/=+/u, ''), redirectUri, state }
}

/** Whether the query has none of the parameters: a legacy client posts the form to the bare address. */
export function isBareQuery(query: URLSearchParams): boolean {
  return !parameterNames.some((name) => query.has(name))
}

export function isSameRequest(one: AuthorizationRequest, other: AuthorizationRequest): boolean {
  return one.codeChallenge === other.codeChallenge && one.redirectUri === other.redirectUri && one.state === other.state
}
