/**
 * Where listeners hear of the token manager's events.
 */
import type { TokenManagerEvents } from '../kernel/events.ts'
import { callSafely } from '../support/callback-fault.ts'
import { checkName, type OptionNames } from '../support/options.ts'

const eventNames: OptionNames<TokenManagerEvents> = {
  refreshed: true,
  'refreshed-token-refused': true,
  'refresh-failed': true,
  'in-doubt': true,
  unsaved: true,
  'carried-over': true,
  'not-indexed': true,
  restored: true,
  superseded: true,
  'reauthentication-required': true,
  'over-budget': true,
  'client-rejected': true,
  'not-refreshed': true,
  blocked: true,
}

export type Emit = <Name extends keyof TokenManagerEvents>(name: Name, event: TokenManagerEvents[Name]) => void

export interface EventSource {
  readonly emit: Emit
  readonly on: <Name extends keyof TokenManagerEvents>(
    name: Name,
    listener: (event: TokenManagerEvents[Name]) => void,
  ) => () => void
}

/** A listener's mistake is its author's to see, as a warning: it must not end the process that holds the only copy of new tokens. */
export function createEvents(): EventSource {
  // Never changed, but replaced: an event goes to those who listened when it came.
  const listeners = new Map<string, readonly ((event: never) => unknown)[]>()
  const listeningTo = (name: string): readonly ((event: never) => unknown)[] => listeners.get(name) ?? []
  return {
    emit(name, event) {
      for (const listener of listeningTo(name)) {
        callSafely(`a listener of the event ${name}`, () => Reflect.apply(listener, undefined, [event]))
      }
    },
    on(name, listener) {
      checkName(name, 'an event of the token manager', eventNames)
      if (typeof listener !== 'function') throw new TypeError('listener must be a function')
      // One of its own, so that a listener that was given twice is called twice, and each is ended alone.
      const added = (event: never): unknown => listener(event)
      listeners.set(name, [...listeningTo(name), added])
      return () =>
        void listeners.set(
          name,
          listeningTo(name).filter((other) => other !== added),
        )
    },
  }
}
