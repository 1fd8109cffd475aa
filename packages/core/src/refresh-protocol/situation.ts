/**
 * What this process knows of an account at the moment of a decision, laid out for the rules.
 */
import { accessTokenOf, standingOf } from './account-memory.ts'
import type { Known } from './account-memory.ts'
import type { Context } from './context.ts'
import { isInGrace, isIntentAlive, openIntent, replayRestLeft } from './doubt.ts'
import { isJustRefreshed } from './pace.ts'
import type { Situation } from './rules.ts'
import { instantOf } from './runtime.ts'

/** @param stored - whether the store has a record of the account */
export function situationOf(known: Known, stored: boolean, context: Context): Situation {
  const { record, rejected, unwanted } = known
  const now = instantOf(context.runtime)
  const intent = openIntent(known)
  const accessToken = accessTokenOf(record)
  return {
    record: stored ? record : undefined,
    standing: standingOf(known, now),
    unwanted: accessToken !== undefined && (accessToken === unwanted || accessToken === rejected?.accessToken),
    justRefreshed: isJustRefreshed(known, context),
    intent,
    intentAlive: intent !== undefined && isIntentAlive(known, intent, context),
    inGrace: intent !== undefined && isInGrace(known, intent, context),
    replayRested: intent === undefined || replayRestLeft(known, intent, context) <= 0,
  }
}
