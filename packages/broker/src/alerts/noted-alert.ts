/**
 * What the store remembers of an account's last alert: who was told, who is telling, and what is tried again. Changes of these
 * notes are functions of them alone, so that a swap can repeat them.
 */
import { randomUUID } from 'node:crypto'
import { type Notes, overdueAdvice, refusalAdvice, type TokenStatus } from '@owner-sso/core'
import { isObject } from '../given/given.ts'
import type { Alert } from './alert.ts'

/** The last alert of an account. */
export interface Noted extends Pick<Alert, 'id' | 'type' | 'at' | 'reason' | 'advice'> {
  /** By channel; absent for one that nobody began with. */
  readonly told: Readonly<Record<string, Telling>>
}

/** How far a channel has come. Without `next`, it is done, or was given up. */
export interface Telling {
  /** Names who tells. */
  readonly claim: string
  /** Tries so far, this one included. */
  readonly tries: number
  /** Seconds since the epoch: until then an instance is telling it, or it failed and rests. */
  readonly next?: number
}

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
  const said = Object.fromEntries(Object.entries({ reason, advice }).filter(([, each]) => each !== undefined))
  return { ...Object.fromEntries(recent), [account]: { id: randomUUID(), type, at, ...said, told: {} } }
}

/** @param change - what becomes of a channel's part in an alert; nothing to leave it */
export function retold(
  notes: Notes,
  account: string,
  id: string,
  channel: string,
  change: (telling: Telling | undefined) => Telling | undefined,
): Notes {
  const noted = noteIn(notes, account)
  const telling = noted?.id === id ? change(noted.told[channel]) : undefined
  return telling === undefined
    ? notes
    : { ...notes, [account]: { ...noted, told: { ...noted?.told, [channel]: telling } } }
}

export function seconds(): number {
  return Math.floor(Date.now() / 1000)
}

function isNoted(note: unknown): note is Noted {
  const { id, type, at, told }: Partial<Record<keyof Noted, unknown>> = Object(note)
  return typeof id === 'string' && typeof type === 'string' && typeof at === 'number' && isObject(told)
}
