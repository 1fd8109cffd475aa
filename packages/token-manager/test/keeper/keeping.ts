/** A store full of accounts on the clock of the test, a service whose refresh tokens end, and what a keeper told. */
import { ReauthenticationRequiredError, type TokenSet } from '../../src/index.ts'
import { jwtExpiry } from '../../src/issuer/jwt-expiry.ts'
import { bench, type Bench } from '../refresh-protocol/harness.ts'

export const minutes = (count: number): number => count * 60_000
export const days = (count: number): number => count * 86_400_000

export interface Fleet extends Bench {
  /** When each request came: milliseconds since the epoch. */
  readonly sentAt: number[]
  /** How often each account's tokens were refreshed. */
  readonly refreshes: Map<string, number>
  /** A refresh token that was sent twice. */
  replays: number
  /** Signs in so many accounts, with names of their own. */
  fill(count: number, overrides?: (index: number) => Partial<TokenSet>): Promise<void>
}

/**
 * @param refreshTokenLife - milliseconds that the service takes a refresh token for
 */
export async function fleet(refreshTokenLife = Number.POSITIVE_INFINITY): Promise<Fleet> {
  // Loaded before the clock counts.
  await jwtExpiry()
  const world = bench()
  const issuedAt = new Map<string, number>()
  const ownerOf = new Map<string, string>()
  const spent = new Set<string>()
  let serial = 0
  const self: Fleet = Object.assign(world, {
    sentAt: [],
    refreshes: new Map<string, number>(),
    replays: 0,
    async fill(count: number, overrides: (index: number) => Partial<TokenSet> = () => ({})) {
      const saver = world.process()
      for (let index = 0; index < count; index += 1) {
        const name = nameOf(index)
        const tokens = world.tokens({ access_token: `a-${name}`, refresh_token: `r-${name}/0`, ...overrides(index) })
        issuedAt.set(tokens.refresh_token, world.now())
        ownerOf.set(tokens.refresh_token, name)
        await saver.save(name, tokens)
      }
    },
  })
  world.answer = async ({ refresh_token, auth_url }) => {
    self.sentAt.push(world.now())
    if (spent.has(refresh_token)) self.replays += 1
    const issued = issuedAt.get(refresh_token) ?? 0
    if (spent.has(refresh_token) || world.now() - issued > refreshTokenLife) {
      throw new ReauthenticationRequiredError('refresh_token_rejected', { step: 'refresh', requestSent: true })
    }
    spent.add(refresh_token)
    const owner = ownerOf.get(refresh_token) ?? refresh_token
    self.refreshes.set(owner, (self.refreshes.get(owner) ?? 0) + 1)
    const next = `r-${owner}/${(serial += 1)}`
    issuedAt.set(next, world.now())
    ownerOf.set(next, owner)
    return world.tokens({ access_token: `a${serial}`, refresh_token: next, auth_url })
  }
  return self
}

/** A fleet with so many accounts, signed in so many milliseconds ago. */
export async function filled(count: number, ago = 0): Promise<Fleet> {
  const world = await fleet()
  await world.fill(count)
  if (ago > 0) await world.pass(ago)
  return world
}

export const nameOf = (index: number): string => `owner-${index}@example.com`

/** The most requests in any slice of that time, over their mean from the first to the last. */
export function peakOverMean(times: readonly number[], slice: number): number {
  const from = Math.min(...times)
  const slices: number[] = []
  for (const time of times) {
    const index = Math.floor((time - from) / slice)
    slices[index] = (slices[index] ?? 0) + 1
  }
  const whole = slices.slice(0, -1)
  const sum = whole.reduce((total, count) => total + (count ?? 0), 0)
  return Math.max(...whole.map((count) => count ?? 0)) / (sum / whole.length)
}
