/**
 * Callers that wait for the next token of an account: they look for it each second, all at the same moment, so that one look at the
 * store serves them all, and at once when this process has refreshed.
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
  isOver: boolean
  look: () => void
}

/** @param mostWaiting - calls of all clients together */
export function tokenChanges(
  tokens: Pick<TokenManager, 'on'>,
  tokensOf: (account: string) => Promise<CurrentTokens>,
  mostWaiting: number,
): TokenChanges {
  const waiting = new Set<Waiting>()
  const unsubscribe = tokens.on('refreshed', ({ account }) => {
    for (const one of waiting) if (one.account === account) one.look()
  })
  const end = (one: Waiting): void => {
    one.isOver = true
    one.look()
  }
  return {
    async next(client, account, { access_token: before }, milliseconds, response) {
      const ofThisClient = [...waiting].filter((one) => one.client === client).length
      if (waiting.size >= mostWaiting || ofThisClient >= mostOfOneClient) {
        throw new RejectedCall('ERR_BROKER_TOO_MANY_CALLS', { 'retry-after': '1' })
      }
      // The caller may have hung up while its current token was looked up: no event comes after that.
      const one: Waiting = { client, account, isOver: response.destroyed, look: () => undefined }
      const giveUp = (): void => end(one)
      const timer = setTimeout(giveUp, milliseconds)
      response.once('close', giveUp)
      waiting.add(one)
      try {
        while (!one.isOver) {
          await new Promise<void>((resolve) => {
            const second = setTimeout(resolve, interval - (Date.now() % interval)).unref()
            one.look = () => {
              clearTimeout(second)
              resolve()
            }
          })
          const current = one.isOver ? undefined : await tokensOf(account)
          if (current !== undefined && current.access_token !== before) return current
        }
        return undefined
      } finally {
        waiting.delete(one)
        clearTimeout(timer)
        response.off('close', giveUp)
      }
    },
    close() {
      unsubscribe()
      for (const one of waiting) end(one)
    },
  }
}
