/**
 * The intents of this process whose end the store may not have told: a swap that was applied although it failed here, or one
 * that could not be taken back. Without them a process would wait for itself.
 */
import type { Intent, SignedIn } from '../tokens/token-record.ts'

export interface OwnIntent {
  readonly id: string
  /** The refresh token may have been spent under it. */
  readonly spent: boolean
  /** What counts in its place if it was not: the intent of an earlier request whose response was lost, if there is one. */
  readonly before: Intent | undefined
}

/** How many are remembered, in addition to the one in the record: each attempt begins with a look at that. */
const remembered = 16

/** @param record - as it was last seen */
export function withOwnIntent(
  intents: readonly OwnIntent[],
  added: OwnIntent,
  record: SignedIn | undefined,
): readonly OwnIntent[] {
  const others = intents.filter(({ id }) => id !== added.id)
  const standing = others.slice(0, -remembered).filter(({ id }) => id === record?.intent?.id)
  return [...standing, ...others.slice(-remembered), added]
}

/** An intent of which nothing more will come. */
export function givenUp(intent: Intent): Intent {
  return { ...intent, answerLost: true }
}
