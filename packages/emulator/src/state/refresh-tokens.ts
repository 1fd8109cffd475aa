/**
 * Refresh tokens: how they rotate, and what a spent one gets that is presented again.
 */
import { randomUUID } from 'node:crypto'
import type { AccessTokens, Minting } from './access-tokens.ts'
import type { Account } from './accounts.ts'
import type { Clock } from './clock.ts'
import type { Counters } from './counters.ts'
import { createExpiringMap } from './expiring-map.ts'
import type { Instance } from '../http/instances.ts'
import { randomText } from './sessions.ts'
import type { EmulatorSettings } from '../options/check-options.ts'

const maxTokens = 100_000
const graceSeconds = 60

/** Field names are the wire's (interface document, "Token response"). */
export interface TokenResponse {
  readonly access_token: string
  readonly refresh_token?: string
  readonly id_token?: string
  readonly expires_in?: number | string
  readonly state?: string
  readonly token_type: 'Bearer'
}

/** The response to a sign-in: it always has both. */
export type SignInTokens = TokenResponse & { readonly refresh_token: string; readonly id_token: string }

/** Where refresh tokens are taken: an instance's token endpoint, or, for those traded there, the owner API. */
export type RefreshPlace = Instance | 'owner-api'

export type Holder = Pick<RefreshToken, 'account' | 'family' | 'instance' | 'audience'>

interface RefreshToken {
  readonly account: Account
  readonly instance: Instance
  /** The sign-in it came from: RFC 9700 section 4.14.2 revokes a family as a whole. */
  readonly family: string
  readonly audience: string | undefined
  readonly place: RefreshPlace
  dead: boolean
  spent?: Spent
}

interface Spent {
  readonly at: number
  readonly successor: string
  readonly answer: Promise<TokenResponse> | undefined
}

export interface RefreshOutcome {
  readonly tokens?: TokenResponse
  readonly decision: string
}

export function createRefreshTokens(deps: {
  readonly clock: Clock
  readonly settings: EmulatorSettings
  readonly counters: Counters
  readonly accessTokens: AccessTokens
}) {
  const { clock, settings, counters, accessTokens } = deps
  const tokens = createExpiringMap<RefreshToken>({
    clock,
    lifetime: () => settings.refreshTokenLifetime ?? Infinity,
    max: maxTokens,
  })

  function add({ account, instance, family, audience }: Holder, place: RefreshPlace): string {
    const token = randomText(40)
    tokens.set(token, { account, instance, family, audience, place, dead: false })
    return token
  }

  async function tokenResponse<Given extends { readonly refresh_token?: string }>(
    { account, family, instance, audience }: Holder,
    given: Given,
    how: { readonly minting: Minting | undefined; readonly isRefreshed: boolean },
  ): Promise<TokenResponse & { readonly id_token: string } & Given> {
    if (how.isRefreshed && settings.oldAccessToken === 'ends') accessTokens.revoke((old) => old.family === family)
    const { accessToken, idToken } = await accessTokens.issue(account, family, instance, { ...how, audience })
    return {
      access_token: accessToken,
      ...given,
      id_token: idToken,
      ...(settings.expiresIn !== null && { expires_in: settings.expiresIn }),
      token_type: 'Bearer',
    }
  }

  const refreshed = <Given extends { readonly refresh_token?: string }>(held: Holder, given: Given, minting: Minting) =>
    tokenResponse(held, given, { minting, isRefreshed: true })

  function kill(matches: (token: RefreshToken) => boolean): number {
    const live = [...tokens.alive()].filter((token) => !token.dead && matches(token))
    for (const token of live) token.dead = true
    return live.length
  }

  async function replay(token: string, held: RefreshToken, spent: Spent, minting: Minting): Promise<RefreshOutcome> {
    const { family } = held
    const { reuse } = settings
    counters.replays += 1
    if (reuse === 'revoke-family') {
      kill((other) => other.family === family)
      accessTokens.revoke((other) => other.family === family)
    }
    const successor = tokens.get(spent.successor)
    const graceful = clock.now() - spent.at <= graceSeconds && successor && !successor.spent && !successor.dead
    if (reuse === 'grace' && graceful && spent.answer) {
      return { tokens: await spent.answer, decision: 'a spent refresh token, within its grace: the same answer again' }
    }
    if (reuse === 'grace-stale' && graceful) {
      const stale = await refreshed(held, { refresh_token: token }, minting)
      return { tokens: stale, decision: 'a spent refresh token, within its grace: given back' }
    }
    const consequence = reuse === 'revoke-family' ? ': its family is revoked' : ''
    return { decision: `a spent refresh token was presented again${consequence}` }
  }

  return {
    signIn(account: Account, instance: Instance, audience?: string, minting?: Minting): Promise<SignInTokens> {
      const holder = { account, instance, audience, family: randomUUID() }
      return tokenResponse(holder, { refresh_token: add(holder, instance) }, { minting, isRefreshed: false })
    },
    trade: (holder: Holder, minting: Minting): Promise<TokenResponse> =>
      tokenResponse(holder, { refresh_token: add(holder, 'owner-api') }, { minting, isRefreshed: false }),
    async refresh(token: string, place: RefreshPlace, minting: Minting): Promise<RefreshOutcome> {
      const held = tokens.get(token)
      if (!held) return { decision: 'an unknown refresh token' }
      if (held.place !== place) return { decision: elsewhere(held.place, place) }
      if (held.spent) return replay(token, held, held.spent, minting)
      if (held.dead) return { decision: 'the refresh token has expired' }
      counters.tokenRefreshes += 1
      const { rotation, reuse } = settings
      if (rotation === 'same') {
        const same = await refreshed(held, { refresh_token: token }, minting)
        return { tokens: same, decision: 'tokens issued, the refresh token stays' }
      }
      if (rotation === 'omit') {
        return { tokens: await refreshed(held, {}, minting), decision: 'tokens issued, without a refresh token' }
      }
      const successor = add(held, held.place)
      const fresh = refreshed(held, { refresh_token: successor }, minting)
      // Kept only where it may be asked for again: it is the bulk of what a token takes.
      held.spent = { at: clock.now(), successor, answer: reuse === 'grace' ? fresh : undefined }
      return { tokens: await fresh, decision: 'tokens issued, the refresh token rotated' }
    },
    /** Every refresh token of the account is dead from now on; says how many were alive. */
    expire: (account: Account): number => kill((token) => token.account === account && !token.spent),
  }
}

function elsewhere(...places: readonly RefreshPlace[]): string {
  return places.includes('owner-api')
    ? 'a refresh token of the owner API is refreshed there alone'
    : 'a refresh token of the other region'
}
