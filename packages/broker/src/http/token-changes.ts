/**
 * Callers that wait for the next token of an account. However many wait, one look a second is taken for all of them, and one
 * at once when this process has refreshed.
 */
import type { ServerResponse } from 'node:http'
import type { CurrentTokens, TokenManager } from '@owner-sso/core'
import { RejectedCall } from './rejection.ts'

export interface TokenChanges {
  /**
   * Resolves to the tokens after `current`; to nothing where there are none within the time, or the caller has hung up.
   *
   * @throws RejectedCall where too many wait already; what `tokensOf` throws, where the account is signed out for one
   */
  readonly next: (
    client: string,
    account: string,
    current: CurrentTokens,
    milliseconds: number,
    response: ServerResponse,
  ) => Promise<CurrentTokens | undefined>
  /** All who wait get nothing. */
  readonly close: () => void
}

/** Calls of one client that may wait at the same time. */
const mostOfOneClient = 32
/** Milliseconds between two looks. */
const interval = 1000

interface Waiting {
  readonly client: string
  readonly account: string
  readonly accessToken: string
  readonly resolve: (tokens: CurrentTokens | undefined) => void
  readonly reject: (error: unknown) => void
}

/** @param mostWaiting - calls of all clients together */
export function tokenChanges(
  tokens: Pick<TokenManager, 'on'>,
  tokensOf: (account: string) => Promise<CurrentTokens>,
  mostWaiting: number,
): TokenChanges {
  const waiting = new Set<Waiting>()
  const looks = new Map<string, NodeJS.Timeout>()
  const unsubscribe = tokens.on('refreshed', ({ account }) => void look(account))

  async function look(account: string): Promise<void> {
    const asked = [...waiting].filter((one) => one.account === account)
    if (asked.length === 0) return
    try {
      const current = await tokensOf(account)
      for (const one of asked) if (one.accessToken !== current.access_token) one.resolve(current)
    } catch (error) {
      for (const one of asked) one.reject(error)
    }
  }

  const keepLooking = (account: string): void => {
    if (looks.has(account)) return
    const timer = setTimeout(() => {
      void look(account).finally(() => {
        looks.delete(account)
        if ([...waiting].some((one) => one.account === account)) keepLooking(account)
      })
    }, interval)
    looks.set(account, timer.unref())
  }

  return {
    async next(client, account, { access_token: accessToken }, milliseconds, response) {
      // The caller may have hung up while its current token was looked up: no event comes after that.
      if (response.destroyed) return undefined
      const ofThisClient = [...waiting].filter((one) => one.client === client).length
      if (waiting.size >= mostWaiting || ofThisClient >= mostOfOneClient) {
        throw new RejectedCall('ERR_BROKER_TOO_MANY_CALLS', { 'retry-after': '1' })
      }
      return new Promise<CurrentTokens | undefined>((resolve, reject) => {
        const leave = (): void => {
          waiting.delete(one)
          clearTimeout(timer)
          response.off('close', giveUp)
        }
        const giveUp = (): void => one.resolve(undefined)
        const one: Waiting = {
          client,
          account,
          accessToken,
          resolve: (changed) => {
            leave()
            resolve(changed)
          },
          reject: (error) => {
            leave()
            reject(error)
          },
        }
        const timer = setTimeout(giveUp, milliseconds)
        response.once('close', giveUp)
        waiting.add(one)
        keepLooking(account)
      })
    },
    close() {
      unsubscribe()
      for (const one of waiting) one.resolve(undefined)
      for (const timer of looks.values()) clearTimeout(timer)
    },
  }
}
