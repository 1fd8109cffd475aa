/**
 * Access tokens that programs got at the token endpoint. A program that is pointed at the broker for the owner API as well sends the
 * token that it refreshed, as it would there: it stands for the program's key. It lets nobody do more than the token itself does.
 */
import { createHash } from 'node:crypto'

export interface HandedOut {
  /** @param key - the program's, as it will send it next */
  note(accessToken: string, key: string): void
  /** The key that a bearer stands for: the one it was noted with, or itself. */
  keyOf(bearer: string): string
}

/** One for each program and token: more than a household, or a fleet's hour. */
const most = 10_000

/** Forgotten with the process: the program is rejected then, and refreshes. */
export function handedOutTokens(): HandedOut {
  const keys = new Map<string, string>()
  return {
    note(accessToken, key) {
      const digest = digestOf(accessToken)
      keys.delete(digest)
      keys.set(digest, key)
      const [oldest] = keys.keys()
      if (keys.size > most && oldest !== undefined) keys.delete(oldest)
    },
    keyOf: (bearer) => keys.get(digestOf(bearer)) ?? bearer,
  }
}

const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64url')
