/**
 * `watch` over PostgreSQL: a swap notifies one channel, and a connection of the caller's own listens there. Hints get lost while
 * that connection is down: polling is left.
 */
import { sqlStateOf } from './sql-failure.ts'
import { channel } from './statements.ts'

/** What pg's `Client` is, for listening. */
export interface PostgresSubscriber {
  query(text: string): Promise<unknown>
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown
  on(event: 'end' | 'error', listener: () => void): unknown
  /** One that a function opened is ended where it can't listen, or has broken. */
  end(): Promise<unknown>
}

/** Starts to listen for an account's hash; returns what ends it. */
export type Listen = (accountHash: string, onChange: () => void) => () => void

/** Milliseconds before another connection is opened after one that could not listen; doubled by each that can't either. */
const firstPause = 1000
const longestPause = 300_000

/** @param subscriber - a connection; or what opens one: at the first watch, and at the first after it has broken */
export function listenWith(subscriber: PostgresSubscriber | (() => Promise<PostgresSubscriber>)): Listen {
  const listeners = new Map<string, Set<() => void>>()
  /** The connection that listens, or is being opened. */
  let current: object | undefined
  let failures = 0
  let notBefore = Number.NEGATIVE_INFINITY

  async function listen(): Promise<void> {
    const mine = (current = {})
    let client: PostgresSubscriber | undefined
    try {
      client = typeof subscriber === 'function' ? await subscriber() : subscriber
      const lost = (): void => {
        // A connection that was given as such is not ours to end, and has no other after it.
        if (typeof subscriber !== 'function') return
        if (current === mine) current = undefined
        void ended(client)
      }
      client.on('notification', ({ payload = '' }) => listeners.get(payload)?.forEach((onChange) => onChange()))
      client.on('end', lost)
      client.on('error', lost)
      await client.query(`LISTEN ${channel}`)
      failures = 0
    } catch (error) {
      if (failures === 0) warn(error)
      if (typeof subscriber !== 'function') return
      notBefore = performance.now() + Math.min(longestPause, firstPause * 2 ** failures)
      failures += 1
      current = undefined
      void ended(client)
    }
  }

  return (accountHash, onChange) => {
    if (current === undefined && performance.now() >= notBefore) void listen()
    const mine = (): void => onChange()
    const all = listeners.get(accountHash) ?? new Set()
    listeners.set(accountHash, all.add(mine))
    return () => {
      if (all.delete(mine) && all.size === 0) listeners.delete(accountHash)
    }
  }
}

async function ended(client: PostgresSubscriber | undefined): Promise<void> {
  try {
    await client?.end()
  } catch {}
}

/** Nobody awaits this: without a warning, all processes would poll for ever and nobody would know. */
function warn(error: unknown): void {
  const state = sqlStateOf(error)
  const answer = state === undefined ? '' : ` (PostgreSQL answered ${state})`
  process.emitWarning(
    `The subscriber of a token store can’t listen${answer}: waiting processes poll. It has to open a connection of its own to the primary, not through a pooler in transaction mode.`,
    { type: 'OwnerSsoWarning', code: 'OWNER_SSO_SUBSCRIBER' },
  )
}
