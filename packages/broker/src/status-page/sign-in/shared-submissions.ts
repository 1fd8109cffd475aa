/**
 * What is sent to the service once although two instances behind one address get it, as from a double click: who claims it
 * first in the store sends it, and the other one answers with what came of it.
 */
import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { notebook, type Notes, type TokenStore } from '@owner-sso/core'
import { livingNotes } from '../living-notes.ts'

/** Where the person goes on, or what the person is told. */
export type Outcome = { readonly location: string } | { readonly refusal: string }

/**
 * Sends what a visitor submits, or waits for whoever is sending the same.
 *
 * @returns what came of it; nothing where that can't be known, as of an instance that died
 * @throws StoreError: what can't be claimed is not sent; what `send` throws
 */
export type SendOnce = (visitor: string, what: string, send: () => Promise<Outcome>) => Promise<Outcome | undefined>

/** In one process `submissions` does it. */
export const sendAlone: SendOnce = (_visitor, _what, send) => send()

interface Claim {
  /** Milliseconds since the epoch. */
  readonly until: number
  /** Nothing yet: it is under way. */
  readonly outcome?: Outcome
}

/** Milliseconds: of a login with all its requests, of a second click that comes late, and between two looks at the store. */
const times = { sending: 60_000, told: 5000, look: 100 }

/** @param store - that all instances share. It gets neither what was submitted nor what it could be guessed by. */
export function sharedSubmissions(store: TokenStore): SendOnce {
  const notes = notebook(store, 'submissions')

  async function isFirst(name: string): Promise<boolean> {
    let isMine = false
    await notes.change((all) => {
      const claims = living(all)
      isMine = !claims.has(name)
      return isMine ? Object.fromEntries(claims.set(name, { until: Date.now() + times.sending })) : all
    })
    return isMine
  }

  /** It was sent, so that a store that fails now changes nothing about what came of it. */
  async function tell(name: string, outcome: Outcome | undefined): Promise<void> {
    const change = (claims: Map<string, Claim>): Map<string, Claim> => {
      claims.delete(name)
      return outcome === undefined ? claims : claims.set(name, { until: Date.now() + times.told, outcome })
    }
    await notes.change((all) => Object.fromEntries(change(living(all)))).catch(() => undefined)
  }

  async function outcomeOf(name: string): Promise<Outcome | undefined> {
    for (;;) {
      const claim = living(await notes.read()).get(name)
      if (claim === undefined || claim.outcome !== undefined) return claim?.outcome
      await pause(times.look)
    }
  }

  return async (visitor, what, send) => {
    // Under a key that only the visitor's cookie has: there is a password in it.
    const name = createHmac('sha256', visitor).update(what).digest('base64url')
    if (!(await isFirst(name))) return outcomeOf(name)
    let outcome: Outcome | undefined
    try {
      outcome = await send()
      return outcome
    } finally {
      await tell(name, outcome)
    }
  }
}

function living(notes: Notes): Map<string, Claim> {
  return livingNotes(notes, isClaim, Date.now())
}

function isClaim(value: unknown): value is Claim {
  if (typeof value !== 'object' || value === null) return false
  const { until, outcome }: Partial<Record<keyof Claim, unknown>> = value
  return typeof until === 'number' && (outcome === undefined || isOutcome(outcome))
}

function isOutcome(value: unknown): value is Outcome {
  if (typeof value !== 'object' || value === null) return false
  const { location, refusal }: { readonly location?: unknown; readonly refusal?: unknown } = value
  return typeof location === 'string' || typeof refusal === 'string'
}
