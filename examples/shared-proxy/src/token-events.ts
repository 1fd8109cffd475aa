/**
 * The token manager's events, all of them, with their names in the log: what `/metrics` counts and the log tells.
 */
import type { TokenManagerEvents } from '@owner-sso/core'

export type TokenEvent = keyof TokenManagerEvents

/** A new event of the manager's is a type error here until it has a name. */
export const namesInLog: Readonly<Record<TokenEvent, string>> = {
  refreshed: 'refreshed',
  'refreshed-token-refused': 'refreshed-token-refused',
  'refresh-failed': 'refresh-failed',
  'in-doubt': 'refresh-in-doubt',
  unsaved: 'tokens-unsaved',
  'carried-over': 'tokens-carried-over',
  restored: 'tokens-restored',
  'not-indexed': 'sign-in-not-indexed',
  superseded: 'refresh-superseded',
  'reauthentication-required': 'reauthentication-required',
  'over-budget': 'refresh-over-budget',
  'not-refreshed': 'not-refreshed',
  'client-rejected': 'client-rejected',
  blocked: 'firewall-blocked',
}

export const tokenEvents: readonly TokenEvent[] = Object.keys(namesInLog).filter(isTokenEvent)

function isTokenEvent(name: string): name is TokenEvent {
  return name in namesInLog
}
