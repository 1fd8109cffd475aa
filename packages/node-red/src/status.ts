/**
 * How an account stands, in the few words that stand under a node.
 */
import { type Cause, SsoError, StoreError, type StoreErrorReason, type TokenStatus, type Why } from '@owner-sso/core'
import type { NodeStatus } from './node-red.ts'

/** Causes that the few words tell well enough. */
const told: readonly Cause[] = ['signed-in', 'refreshing', 'nothing-stored', 'refreshed-tokens-refused']

/** With the cause in one sentence, where something is wrong, and whether that is sure. */
export function statusWords(status: TokenStatus, { cause, sentence, sure }: Why): NodeStatus {
  const words = fewWords(status, Date.now() / 1000)
  return told.includes(cause) ? words : { ...words, text: `${words.text}. ${sure ? '' : 'Likely: '}${sentence}` }
}

/** @param now - seconds since the epoch */
function fewWords(status: TokenStatus, now: number): NodeStatus {
  const left = status.refused ? 0 : Math.max(0, (status.expires_at ?? 0) - now)
  switch (status.state) {
    case 'signed-out':
      return { fill: 'red', shape: 'ring', text: 'sign in' }
    case 'reauthentication-required':
      return left > 0 ? endsSoon(left) : signInAgain
    case 'in-doubt':
      return { fill: 'yellow', shape: 'ring', text: 'renewal in doubt, tried again soon' }
    case 'expired':
      return { fill: 'grey', shape: 'ring', text: 'renewed with the next message' }
    case 'valid':
      if (status.refused) return signInAgain
      return status.refreshed_tokens_refused === undefined ? valid(left) : endsSoon(left)
  }
}

const signInAgain: NodeStatus = { fill: 'red', shape: 'ring', text: 'sign in again' }

/** @param left - seconds */
export const valid = (left: number): NodeStatus => ({
  fill: 'green',
  shape: 'dot',
  text: `valid, ${timeSpan(left)} left`,
})

const endsSoon = (left: number): NodeStatus => ({
  fill: 'yellow',
  shape: 'dot',
  text: `sign in again within ${timeSpan(left)}`,
})

function timeSpan(seconds: number): string {
  return seconds >= 3600 ? `${Math.floor(seconds / 3600)} h` : `${Math.max(1, Math.floor(seconds / 60))} min`
}

/** Why there is nothing to show. Sentences of ours are too long for it: the whole one goes to `catch` nodes. */
export function problemWords(problem: unknown): NodeStatus {
  if (problem instanceof StoreError) return { fill: 'red', shape: 'ring', text: storeWords[problem.reason] ?? noStore }
  if (needsSignIn(problem)) return signInAgain
  const isOfBroker = problem instanceof SsoError || hasCode(problem)
  return { fill: 'red', shape: 'ring', text: isOfBroker ? sentenceOf(problem) : 'look at the account’s settings' }
}

const noStore = 'the tokens can’t be read'
const storeWords: { readonly [Reason in StoreErrorReason]?: string } = {
  'wrong-key': 'the tokens are sealed with another key',
  'not-sealed': 'the tokens are plain: seal them with owner-sso rekey',
  permissions: 'Node-RED may not read the tokens',
  corrupt: 'the tokens are damaged',
  'write-failed': 'the tokens can’t be saved',
}

const sentenceOf = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem))

/** Whether only the owner can help. */
export function needsSignIn(problem: unknown): boolean {
  return (
    hasCode(problem) && (problem.code === 'ERR_SSO_SIGNED_OUT' || problem.code === 'ERR_SSO_REAUTHENTICATION_REQUIRED')
  )
}

function hasCode(problem: unknown): problem is Error & { readonly code: string } {
  return problem instanceof Error && 'code' in problem && typeof problem.code === 'string'
}
