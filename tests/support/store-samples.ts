/** Records, and short ways to try a store. */
import type { TokenRecord, TokenStore } from '@owner-sso/core'

export const account = 'ann@example.com'

export function sample(number: number): TokenRecord {
  const filling = `${number};`.repeat(500)
  const record: TokenRecord = JSON.parse(JSON.stringify({ schema: 1, state: 'signed-in', filling }))
  return record
}

/** What a call answers, or what it fails with. */
export function answerOf(call: () => Promise<unknown>): Promise<unknown> {
  return call().catch((error: unknown) => error)
}

/**
 * One write as a token manager's commit makes it: repeated with the same id until it is answered; after a conflict it
 * reads whether what stands there is its own.
 */
export async function commit(store: TokenStore, expected: number, writeId: string): Promise<'saved' | 'lost'> {
  const next = sample(expected + 1)
  for (;;) {
    try {
      const answer = await store.swap(account, expected, next, writeId)
      if (!('conflict' in answer)) return answer.version === expected + 1 ? 'saved' : 'lost'
      return 'lost'
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

/** Short by default; the long form of every scenario with OWNER_SSO_SOAK=1. */
export function rounds(short: number, long: number): number {
  return process.env['OWNER_SSO_SOAK'] === '1' ? long : short
}
