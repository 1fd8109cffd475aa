/**
 * One OAuth service as its requests need it: the library that knows OAuth, the metadata, who asks, and how a request is sent.
 */
import type * as Oauth from 'oauth4webapi'
import { SsoError, type SsoStep, UnexpectedResponseError, UnreachableError } from '../errors.ts'
import { openConnection } from '../http/connection.ts'
import { parseJson } from '../http/json-object.ts'
import { answerInTime, type RequestLimits } from '../http/one-request.ts'
import { type HttpAnswer, type HttpRequest, roundTrip } from '../http/round-trip.ts'
import type { FirewallState } from '../issuer/token-issuer.ts'
import { isEndpoint, type OauthSettings } from './options.ts'

/** Milliseconds for one request of a sign-in. */
export const requestTimeout = 15_000

export interface OauthService {
  readonly settings: OauthSettings
  readonly oauth: typeof Oauth
  readonly states: ReadonlySet<FirewallState>
  /** Where, and who asks. @throws SsoError that is never in doubt: no token was sent */
  readonly ready: (step: SsoStep, limits: RequestLimits) => Promise<Ready>
  /** One request, on a connection of its own. */
  readonly send: (step: SsoStep, request: HttpRequest, limits: RequestLimits) => Promise<HttpAnswer>
}

type Metadata = Oauth.AuthorizationServer
type Ready = readonly [server: Metadata, authentication: Oauth.ClientAuth]

export async function openService(settings: OauthSettings, states: ReadonlySet<FirewallState>): Promise<OauthService> {
  const oauth = await import('oauth4webapi')
  const { transport, proxy, issuer, tokenUrl, authorizationUrl } = settings
  const tlsMemory = { sessions: new Map<string, Buffer>() }
  const send: OauthService['send'] = async (step, { headers, ...request }, limits) => {
    const { url } = request
    const own = { ...headers, 'User-Agent': transport.userAgent, Accept: 'application/json' }
    const connection = openConnection(url, { transport, proxy, tlsMemory })
    const once: Parameters<typeof answerInTime>[0] = (sending) =>
      roundTrip(connection, { ...request, headers: own }, sending)
    return answerInTime(once, { step, url, proxy }, limits).finally(() => connection.close())
  }
  const getReady = async (step: SsoStep, { timeout, signal }: RequestLimits): Promise<Ready> => {
    const get = (url: URL): Promise<HttpAnswer> => send(step, { method: 'GET', url, headers: {} }, { timeout, signal })
    const own = authorizationUrl === undefined ? {} : { authorization_endpoint: authorizationUrl }
    const there =
      tokenUrl === undefined
        ? await discovered(String(issuer), get)
        : { issuer: issuer ?? tokenUrl, token_endpoint: tokenUrl }
    return [{ ...there, ...own }, await clientAuthentication(settings, oauth, there)]
  }
  let readying: Promise<Ready> | undefined
  const ready: OauthService['ready'] = async (step, limits) => {
    try {
      return await (readying ??= getReady(step, limits))
    } catch (error) {
      readying = undefined
      if (error instanceof SsoError && !error.requestSent) throw error
      const options = { step, requestSent: false, cause: error }
      throw new UnreachableError(`The metadata of ${issuer} can’t be used. No token was sent.`, options)
    }
  }
  return { settings, oauth, states, ready, send }
}

/** RFC 8414 section 3, and OpenID Connect Discovery section 4 where that is not there. */
async function discovered(issuer: string, get: (url: URL) => Promise<HttpAnswer>): Promise<Metadata> {
  const { origin, pathname, href } = new URL(issuer)
  const path = pathname.replace(/\/$/u, '')
  for (const place of [`/.well-known/oauth-authorization-server${path}`, `${path}/.well-known/openid-configuration`]) {
    const { status, body } = await get(new URL(origin + place))
    const metadata: Partial<Metadata> = Object(status === 200 ? parseJson(body) : undefined)
    const { issuer: named, token_endpoint, authorization_endpoint = token_endpoint } = metadata
    if (named === undefined) continue
    if (!URL.canParse(named) || new URL(named).href !== href)
      throw lie(`The metadata at ${issuer} are another issuer’s.`)
    if (isEndpoint(token_endpoint) && isEndpoint(authorization_endpoint)) return { ...metadata, issuer: named }
    throw lie(`The metadata of ${issuer} lack an endpoint with https.`)
  }
  throw new UnexpectedResponseError('there are no metadata')
}

const lie = (sentence: string): SsoError =>
  new SsoError('ERR_SSO_ISSUER_MISMATCH', `${sentence} No token was sent.`, { requestSent: false })

async function clientAuthentication(
  { clientAuthentication: chosen, clientSecret, privateKey }: OauthSettings,
  oauth: typeof Oauth,
  { token_endpoint_auth_methods_supported: listed = [] }: Metadata,
): Promise<Oauth.ClientAuth> {
  const wantsPost = listed.includes('client_secret_post') && !listed.includes('client_secret_basic')
  const how = chosen ?? (privateKey ? 'private_key_jwt' : wantsPost ? 'post' : 'basic')
  if (how === 'private_key_jwt' && privateKey) {
    const { importJWK } = await import('jose/key/import')
    const { alg = algorithms.get(privateKey.crv ?? '') ?? 'RS256', kid } = privateKey
    const key = await importJWK(privateKey, String(alg))
    if (!(key instanceof Uint8Array)) return oauth.PrivateKeyJwt({ key, ...(typeof kid === 'string' && { kid }) })
  }
  if (how === 'none' || clientSecret === undefined) return oauth.None()
  return how === 'post' ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret)
}

/** What a key signs with, by its curve, unless it says so itself. */
const algorithms = new Map(Object.entries({ 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512', Ed25519: 'EdDSA' }))
