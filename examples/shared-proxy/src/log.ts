/**
 * The log: one JSON object per line on standard output. It names accounts, for whoever has to sign them in again, and never
 * holds a token, a key or an address with a password in it.
 */
import { refusalAdvice, type TokenManager, type TokenManagerEvents, visible } from '@owner-sso/core'

/** A new event of the manager's is a type error here until it is known. */
const known: Readonly<Record<keyof TokenManagerEvents, true>> = {
  refreshed: true,
  'refreshed-token-refused': true,
  'refresh-failed': true,
  'in-doubt': true,
  unsaved: true,
  'carried-over': true,
  restored: true,
  'not-indexed': true,
  superseded: true,
  'reauthentication-required': true,
  'over-budget': true,
  'not-refreshed': true,
  'client-rejected': true,
  blocked: true,
}

/** All events of the token manager: what the log tells and `/metrics` counts. */
export const tokenEvents: readonly (keyof TokenManagerEvents)[] = Object.keys(known).filter(
  (name): name is keyof TokenManagerEvents => name in known,
)

export type Log = (event: string, fields?: Readonly<Record<string, unknown>>) => void

export const logToStdout: Log = (event, fields = {}) => {
  process.stdout.write(`${visible(JSON.stringify({ time: new Date().toISOString(), event, ...fields }))}\n`)
}

/** Logs what becomes of refreshes. An `SsoError` holds no secret; its code and message are what is logged. */
export function logRefreshes(tokens: Pick<TokenManager, 'on'>, log: Log): void {
  for (const name of tokenEvents) {
    tokens.on(name, (event) => {
      const { error, ...fields }: { readonly account?: string; readonly error?: unknown } = event
      const advice = 'in_a_row' in event ? adviceOn(event) : {}
      log(name, { ...fields, ...advice, ...(error !== undefined && described(error)) })
    })
  }
}

function adviceOn({ expires_at, in_a_row }: TokenManagerEvents['refreshed-token-refused']): object {
  return { message: refusalAdvice({ state: 'valid', expires_at, refreshed_tokens_refused: in_a_row }) }
}

/** The code and sentence of an error that is meant to be read. */
export function described(error: unknown): { readonly code?: unknown; readonly message: string } {
  if (!(error instanceof Error)) return { message: 'unknown' }
  return { ...('code' in error && { code: error.code }), message: error.message }
}
