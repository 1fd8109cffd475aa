/**
 * `oauthIssuer`: any OAuth 2.0 service, as a token manager sees it. What makes its requests is loaded by the first of them.
 */
import { randomUUID } from 'node:crypto'
import { ReauthenticationRequiredError, RegionNotAllowedError } from '../errors.ts'
import { type CallOptions, parseCallOptions } from '../issuer/call-options.ts'
import { clientIn, otherClient, withoutClient } from '../issuer/client-mark.ts'
import type { FirewallState, TokenIssuer } from '../issuer/token-issuer.ts'
import { lostItsTokens, type TokenSet } from '../issuer/token-set.ts'
import type { OauthAuthorizationRequest } from './grants.ts'
import { type OauthIssuerOptions, type OauthSettings, parseOauthOptions } from './options.ts'
import type { OauthService } from './service.ts'
import { kinds } from '../support/options.ts'
import { readTokens, refreshTokenIn } from './token-reading.ts'

export type { OauthAuthorizationRequest, OauthIssuerOptions }

/** An OAuth 2.0 service: what `createTokenManager` takes as `issuer`, and the sign-in. */
export interface OauthIssuer extends TokenIssuer {
  /** Names the issuer and the client. */
  readonly authUrl: string
  /** Begins a sign-in: send the person to `url`, keep `request` in their session. @param more - such as `{ prompt: 'consent' }` */
  createAuthorizationUrl(more?: Record<string, string>): Promise<{ url: string; request: OauthAuthorizationRequest }>
  /** Ends it, with the address that the person came back to, for `save`. Without a refresh token, that is empty. @throws SsoError */
  exchangeCode(callbackUrl: string | URL, request: OauthAuthorizationRequest, options?: CallOptions): Promise<TokenSet>
}

const refreshRows = { signal: kinds.any, timeout: kinds.any, beforeSend: kinds.any }

/** In place of a refresh token, where there is none: of its own for each account, for two can't share one. */
const noRefreshToken = 'no-refresh-token:'

/**
 * An issuer for any OAuth 2.0 service. Opens no connection yet.
 *
 * @throws TypeError that names the option
 * @example
 * const issuer = oauthIssuer({ issuer: 'https://id.example.com', clientId, clientSecret })
 * const tokens = createTokenManager({ issuer, store })
 * await tokens.save('ann', tokenSetOfAnyLibrary)
 * await tokens.getAccessToken('ann')
 */
export function oauthIssuer(options: OauthIssuerOptions): OauthIssuer {
  const settings = parseOauthOptions(options)
  const { authUrl } = settings
  const states = new Set<FirewallState>()
  let service: Promise<OauthService> | undefined
  const requests = async (): Promise<typeof import('./grants.ts') & { readonly service: OauthService }> => {
    for (const state of states) state.admit?.()
    const calls = await import('./grants.ts')
    return { ...calls, service: await (service ??= calls.openService(settings, states)) }
  }
  return {
    authUrl,
    async createAuthorizationUrl(more = {}) {
      const calls = await requests()
      return calls.createAuthorizationUrl(calls.service, more)
    },
    async exchangeCode(callbackUrl, request, given) {
      const { signal } = parseCallOptions('exchangeCode(callbackUrl, request, { signal })', given)
      const isRequest = typeof request?.state === 'string' && typeof request.codeVerifier === 'string'
      if (!isRequest) throw new TypeError('request must be what createAuthorizationUrl() returned, or its JSON')
      const calls = await requests()
      return calls.exchangeCode(calls.service, callbackUrl, request, signal)
    },
    async refresh(tokens, given) {
      const call = parseCallOptions('refresh(tokens, { signal })', given, undefined, refreshRows)
      requireOwn(tokens.auth_url, settings)
      if (tokens.refresh_token.startsWith(noRefreshToken))
        throw new ReauthenticationRequiredError('no_refresh_token', { step: 'refresh', requestSent: false })
      const calls = await requests()
      return calls.refreshTokens(calls.service, tokens, call)
    },
    async tokenSetOf(given) {
      if (typeof given !== 'object' || given === null || lostItsTokens(given)) return undefined
      // The tokens of a set that this package made can't be enumerated; as JSON it is whole.
      const fields = new Map<string, unknown>(Object.entries(JSON.parse(JSON.stringify(given))))
      requireOwn(fields.get('auth_url') ?? authUrl, settings)
      const tokens = await readTokens(fields, 'saved', authUrl, { refresh_token: noRefreshToken + randomUUID() })
      const refresh_token = refreshTokenIn(fields)
      const [history] = [fields.get('history')].filter((value) => typeof value === 'string')
      return tokens ?? (refresh_token === undefined ? undefined : { refresh_token, auth_url: authUrl, history })
    },
    useFirewallState: (state) => void states.add(state),
  }
}

/** @throws RegionNotAllowedError, StoreError for another client's */
function requireOwn(address: unknown, { authUrl, clientId, issuer, tokenUrl }: OauthSettings): void {
  const [instance, client] = [withoutClient(String(address)), clientIn(String(address))]
  const origin = URL.canParse(instance) ? new URL(instance).origin : undefined
  const isOwn = [authUrl, issuer, tokenUrl].some((own) => own !== undefined && new URL(own).origin === origin)
  if (!isOwn) throw new RegionNotAllowedError(origin, { step: 'token-manager', requestSent: false })
  if (client !== undefined && client !== clientId) throw otherClient(client, clientId)
}
