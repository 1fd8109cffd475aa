/**
 * The query of both authorize calls (interface document, endpoints 1 and 2): presence, fixed values, no duplicates.
 */
import { clientIdOf, isRegistered } from './strictness.ts'
import type { EmulatorSettings } from '../options/check-options.ts'

export const authorizeEndpointPath = '/oauth2/v3/authorize'

export interface AuthorizationRequest {
  readonly codeChallenge: string
  readonly redirectUri: string
  readonly state: string
  /** All of them as they came, but for the hint. */
  readonly parameters: Readonly<Record<string, string>>
}

export const fixedScope = 'openid email offline_access'

const fixedNames = ['client_id', 'code_challenge_method', 'response_type', 'scope']
const parameterNames = [...fixedNames, 'code_challenge', 'redirect_uri', 'state', 'login_hint']
/** Room for the base64url of a digest, of its hexadecimal text, and padding. */
const challengePattern = /^[\w-]{43,128}={0,2}$/u
const maxStateLength = 1024

/** The request, or a sentence that names what is wrong with it. Parameters the document doesn't know are ignored. */
export function readAuthorizationRequest(
  query: URLSearchParams,
  {
    settings,
    isRedirectUri,
  }: { readonly settings: EmulatorSettings; readonly isRedirectUri: (uri: string) => boolean },
): AuthorizationRequest | string {
  const repeated = parameterNames.find((name) => query.getAll(name).length > 1)
  if (repeated !== undefined) return `The parameter ${repeated} must not be repeated.`
  // A registered application asks for scopes of its own, and strangers' bring no challenge.
  const isRegisteredOne = isRegistered(settings)
  const isWithoutChallenge = isRegisteredOne && !query.has('code_challenge')
  const fixed = {
    client_id: clientIdOf(settings),
    ...(!isWithoutChallenge && { code_challenge_method: 'S256' }),
    response_type: 'code',
    ...(!isRegisteredOne && { scope: fixedScope }),
  }
  for (const [name, value] of Object.entries(fixed)) {
    if (query.get(name) !== value) return `The parameter ${name} must be "${value}".`
  }
  if (!query.get('scope')) return 'The parameter scope is missing.'
  const codeChallenge = query.get('code_challenge') ?? ''
  const redirectUri = query.get('redirect_uri') ?? ''
  const state = query.get('state') ?? ''
  if (!isWithoutChallenge && !challengePattern.test(codeChallenge))
    return 'The parameter code_challenge must be a base64url SHA-256 challenge.'
  if (!isRedirectUri(redirectUri)) return 'The parameter redirect_uri is not a registered address.'
  if (state === '' || state.length > maxStateLength) return 'The parameter state must be a random string.'
  const came = parameterNames.filter((name) => name !== 'login_hint' && query.has(name))
  const parameters = Object.fromEntries(came.map((name) => [name, query.get(name) ?? '']))
  return { codeChallenge: codeChallenge.replace(/=+/u, ''), redirectUri, state, parameters }
}

/** Whether the query has none of the parameters: a legacy client posts the form to the bare address. */
export function isBareQuery(query: URLSearchParams): boolean {
  return !parameterNames.some((name) => query.has(name))
}

export function isSameRequest(one: AuthorizationRequest, other: AuthorizationRequest): boolean {
  return one.codeChallenge === other.codeChallenge && one.redirectUri === other.redirectUri && one.state === other.state
}
