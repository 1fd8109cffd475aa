/**
 * `watch` over PostgreSQL: a swap notifies one channel, and a connection of the caller's own listens there. Hints get lost while
 * that connection is down: polling is left.
 */
import { channel } from './statements.ts'

/** What pg's `Client` is, for listening. */
export interface PostgresSubscriber {
  query(text: string): Promise<unknown>
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown
  on(event: 'end' | 'error', listener: () => void): unknown
}

/** Starts to listen for an account's hash; returns what ends it. */
export type Listen = (accountHash: string, onChange: () => void) => () => void

/** @param subscriber - a connection; or what opens one: at the first watch, and at the first after it has broken */
export function listenWith(subscriber: PostgresSubscriber | (() => Promise<PostgresSubscriber>)): Listen {
  const listeners = new Map<string, Set<() => void>>()
  let listening: Promise<void> | undefined

  const start = async (lost: () => void): Promise<void> => {
    const client = typeof subscriber === 'function' ? await subscriber() : subscriber
    client.on('notification', ({ payload = '' }) => listeners.get(payload)?.forEach((onChange) => onChange()))
    client.on('end', lost)
    client.on('error', lost)
    await client.query(`LISTEN ${channel}`)
  }
  const listen = (): void => {
    const lost = (): void => {
      // A connection that was given as such has no other after it.
      if (listening === mine && typeof subscriber === 'function') listening = undefined
    }
    const mine = start(lost)
    listening = mine
    mine.catch(lost)
  }

  return (accountHash, onChange) => {
    if (listening === undefined) listen()
    const mine = (): void => onChange()
    const all = listeners.get(accountHash) ?? new Set()
    listeners.set(accountHash, all.add(mine))
    return () => {
      if (all.delete(mine) && all.size === 0) listeners.delete(accountHash)
    }
  }
}
