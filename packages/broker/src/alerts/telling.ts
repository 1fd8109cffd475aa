/**
 * Tells one alert by one channel, if nobody else is at it: the claim is noted first, and then what became of it.
 */
import { randomUUID } from 'node:crypto'
import type { Notebook } from '@owner-sso/core'
import type { Alert, AlertChannel } from './alert.ts'
import { type Noted, noteIn, retold, seconds } from './noted-alert.ts'

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
  readonly retryAfter: readonly number[]
  readonly onFailure: (failure: AlertFailure) => void
}

/** Seconds that an instance has to tell what it claimed: longer than any channel takes. */
const claimTime = 90

/** Resolves to whether the channel has nothing left to tell. */
export type Tell = (channel: AlertChannel, account: string, noted: Noted) => Promise<boolean>

export function tellerOf({ notes, signInUrl, retryAfter, onFailure }: TellingOptions): Tell {
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
    const claimed = await notes.change((all) =>
      retold(all, account, id, name, (telling) => {
        const { tries, next } = telling ?? { tries: 0, next: 0 }
        const isFree = next !== undefined && next <= seconds()
        return isFree ? { claim, tries: tries + 1, next: seconds() + claimTime } : undefined
      }),
    )
    const underWay = noteIn(claimed, account)?.told[name]
    if (underWay?.claim !== claim) return underWay !== undefined && underWay.next === undefined
    const { tries } = underWay
    const next = await tried(channel, { id, type, account, at, reason, advice, signInUrl }, tries)
    await notes.change((all) =>
      retold(all, account, id, name, (telling) =>
        telling?.claim === claim ? { claim, tries, ...(next !== undefined && { next }) } : undefined,
      ),
    )
    return next === undefined
  }
}
