/**
 * What the store remembers of an account's last alert: who was told, who is telling, and what is tried again. Changes of these
 * notes are functions of them alone, so that a swap can repeat them.
 */
import { randomUUID } from 'node:crypto'
import { type Notes, overdueAdvice, refusalAdvice, type TokenStatus } from '@owner-sso/core'
import type { Alert } from './alert.ts'

/** The last alert of an account. */
export interface Noted extends Pick<Alert, 'id' | 'type' | 'at' | 'reason' | 'advice'> {
  /** By channel; absent for one that nobody began with. */
  readonly told: Readonly<Record<string, Telling>>
}

/** How far a channel has come. Neither `until` nor `again_at`: it is done, or was given up. Times are seconds since the epoch. */
export interface Telling {
  /** Names who tells. */
  readonly claim: string
  /** Tries so far, this one included. */
  readonly tries: number
  /** An instance is telling it, and has time until then. */
  readonly until?: number
  /** It failed, and is tried again then. */
  readonly again_at?: number
}

/** Seconds that an instance has to tell what it claimed: longer than any channel takes. */
const claimTime = 90

/** Seconds that it is remembered that an account works again. */
const memory = 7 * 86_400

/** What is noted of an account; nothing for what is not a note of ours. */
export function noteIn(notes: Notes, account: string): Noted | undefined {
  const note = notes[account]
  return isNoted(note) ? note : undefined
}

/** How an account stands, as an alert says it. */
export interface Standing extends Pick<Alert, 'type' | 'reason' | 'advice'> {
  /** When its sign-in was saved; absent once it was refreshed. Seconds since the epoch. */
  readonly signed_in_at?: number | undefined
  /** When its tokens were obtained. */
  readonly obtained_at?: number | undefined
}

/** Nothing while a refresh is in doubt. */
export function standingOf(status: TokenStatus): Standing | undefined {
  const { state, reason = 'signed-out', obtained_at, refreshed_at } = status
  const overdue = overdueAdvice(status)
  if (state === 'in-doubt' && overdue === undefined) return undefined
  if (state === 'signed-out' || state === 'reauthentication-required') return { type: 'sign-in.needed', reason }
  const advice = refusalAdvice(status)
  if (advice === undefined && overdue !== undefined) return { type: 'refresh.overdue', advice: overdue }
  if (advice === undefined) return { type: 'sign-in.restored', obtained_at }
  return { type: 'sign-in.due', advice, ...(refreshed_at === undefined && { signed_in_at: obtained_at }) }
}

/** Whether an alert still says how its account is. An account that always worked has no alert, and needs none. */
export function says(noted: Pick<Noted, 'type' | 'at'> | undefined, standing: Standing): boolean {
  const { type, signed_in_at = 0, obtained_at = Infinity } = standing
  const { type: last, at } = noted ?? { type: type === 'client.restored' ? type : 'sign-in.restored', at: 0 }
  // To an instance that refreshes itself nothing is overdue: only new tokens end it.
  if (last === 'refresh.overdue' && type === 'sign-in.restored') return obtained_at <= at
  return last === type && (type !== 'sign-in.due' || signed_in_at <= at)
}

/** A new alert, where the last one does not say how the account stands. */
export function begun(notes: Notes, account: string, standing: Standing): Notes {
  if (says(noteIn(notes, account), standing)) return notes
  const at = seconds()
  const recent = Object.entries(notes).filter(
    ([, note]) => isNoted(note) && (!note.type.endsWith('.restored') || note.at > at - memory),
  )
  const { type, reason, advice } = standing
  const begins: Noted = {
    id: randomUUID(),
    type,
    at,
    ...(reason !== undefined && { reason }),
    ...(advice !== undefined && { advice }),
    told: {},
  }
  return { ...Object.fromEntries(recent), [account]: begins }
}

/** The claim of who wants to tell; unchanged where another one does, or nothing is left to do now. */
export function claimed(notes: Notes, account: string, id: string, channel: string, claim: string): Notes {
  const noted = noteIn(notes, account)
  if (noted?.id !== id) return notes
  const { tries, until, again_at } = noted.told[channel] ?? { tries: 0, until: 0 }
  const free = until ?? again_at
  if (free === undefined || free > seconds()) return notes
  return withTelling(notes, account, noted, channel, { claim, tries: tries + 1, until: seconds() + claimTime })
}

/** The end of a claim, unless another one followed it. @param again_at - where it failed, and is to be tried again */
export function concluded(
  notes: Notes,
  account: string,
  id: string,
  channel: string,
  claim: string,
  again_at: number | undefined,
): Notes {
  const noted = noteIn(notes, account)
  const telling = noted?.told[channel]
  if (noted?.id !== id || telling?.claim !== claim) return notes
  const { tries } = telling
  return withTelling(notes, account, noted, channel, { claim, tries, ...(again_at !== undefined && { again_at }) })
}

/** Whether a channel has nothing left to tell of an alert. */
export function isDone(telling: Telling | undefined): boolean {
  return telling !== undefined && telling.until === undefined && telling.again_at === undefined
}

export function seconds(): number {
  return Math.floor(Date.now() / 1000)
}

function withTelling(notes: Notes, account: string, noted: Noted, channel: string, telling: Telling): Notes {
  return { ...notes, [account]: { ...noted, told: { ...noted.told, [channel]: telling } } }
}

function isNoted(note: unknown): note is Noted {
  if (typeof note !== 'object' || note === null) return false
  const { id, type, at, told }: Partial<Record<keyof Noted, unknown>> = note
  const isAlert = typeof id === 'string' && typeof at === 'number' && typeof told === 'object' && told !== null
  return isAlert && typeof type === 'string'
}
