/**
 * The log: one JSON object a line on standard output. It names accounts, for whoever has to sign them in again, and never
 * holds a token, a key or an address with a password in it.
 */
import type { TokenManager } from '@owner-sso/core'

export type Log = (event: string, fields?: Readonly<Record<string, unknown>>) => void

export const logToStdout: Log = (event, fields = {}) => {
  process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), event, ...fields })}\n`)
}

/** Logs what becomes of refreshes. An `SsoError` holds no secret; its code and message are what is logged. */
export function logRefreshes(tokens: Pick<TokenManager, 'on'>, log: Log): void {
  tokens.on('refreshed', (fields) => log('refreshed', { ...fields }))
  tokens.on('in-doubt', (fields) => log('refresh-in-doubt', { ...fields }))
  tokens.on('superseded', (fields) => log('refresh-superseded', { ...fields }))
  tokens.on('reauthentication-required', (fields) => log('reauthentication-required', { ...fields }))
  tokens.on('blocked', (fields) => log('firewall-blocked', { ...fields }))
  tokens.on('refresh-failed', ({ account, error }) => log('refresh-failed', { account, ...described(error) }))
  tokens.on('unsaved', ({ account, error, spooled }) =>
    log('tokens-unsaved', { account, spooled, ...described(error) }),
  )
  tokens.on('carried-over', (fields) => log('tokens-carried-over', { ...fields }))
}

/** The code and sentence of an error that is meant to be read. */
export function described(error: unknown): { readonly code?: unknown; readonly message: string } {
  if (!(error instanceof Error)) return { message: 'unknown' }
  return { ...('code' in error && { code: error.code }), message: error.message }
}
