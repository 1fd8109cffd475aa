/**
 * Tells one alert by one channel, if nobody else is at it: the claim is noted first, and then what became of it.
 */
import { randomUUID } from 'node:crypto'
import type { Notebook } from '@owner-sso/core'
import type { Alert, AlertChannel } from './alert.ts'
import { claimed, concluded, isDone, type Noted, noteIn, seconds } from './noted-alert.ts'

/** Why somebody was not told. */
export interface AlertFailure {
  readonly error: unknown
  /** Absent where not a channel failed, but the store. */
  readonly channel?: string
  readonly account?: string
}

export interface TellingOptions {
  readonly notes: Notebook
  readonly signInUrl: string | undefined
  /** Seconds until each further try. */
  readonly retryAfter: readonly number[]
  readonly onFailure: (failure: AlertFailure) => void
}

/** Resolves to whether the channel has nothing left to tell. */
export type Tell = (channel: AlertChannel, account: string, noted: Noted) => Promise<boolean>

export function telling({ notes, signInUrl, retryAfter, onFailure }: TellingOptions): Tell {
  /** Resolves to the time of the next try, if there is to be one. */
  const tried = async (channel: AlertChannel, alert: Alert, tries: number): Promise<number | undefined> => {
    try {
      await channel.tell(alert)
      return undefined
    } catch (error) {
      onFailure({ error, channel: channel.name, account: alert.account })
      const wait = retryAfter[tries - 1]
      return wait === undefined ? undefined : seconds() + wait
    }
  }
  return async (channel, account, { id, type, at, reason, advice }) => {
    const { name } = channel
    const claim = randomUUID()
    const after = noteIn(await notes.change((all) => claimed(all, account, id, name, claim)), account)
    const underWay = after?.told[name]
    if (underWay?.claim !== claim) return isDone(underWay)
    const again = await tried(channel, { id, type, account, at, reason, advice, signInUrl }, underWay.tries)
    await notes.change((all) => concluded(all, account, id, name, claim, again))
    return again === undefined
  }
}
