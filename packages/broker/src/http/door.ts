/**
 * The way by which a call comes in, and what is known of the caller by that alone.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** For `node:http`, Connect and Express. What is not the broker's goes to `next`; without one it is a 404. */
export type BrokerHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

export interface Door {
  /** A caller without a key may use every account: the permissions of a Unix socket have let it in. */
  readonly isTrusted: boolean
  /** Whether no browser can come this way, so that a `Host` says nothing. */
  readonly isLocal: boolean
  /** Where a call comes from, for limits and the audit log. */
  readonly addressOf: (request: IncomingMessage) => string
}

export const openDoor: Door = {
  isTrusted: false,
  isLocal: false,
  addressOf: ({ socket }) => socket.remoteAddress ?? 'unknown',
}

/** A Unix socket. */
export const localDoor: Door = { isTrusted: true, isLocal: true, addressOf: () => 'unix socket' }

/** Behind a proxy, which adds the caller's address at the end of `X-Forwarded-For`: what comes before it can be anybody's. */
export const proxiedDoor: Door = {
  ...openDoor,
  addressOf: ({ headers, socket }) =>
    String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .at(-1)
      ?.trim() ||
    (socket.remoteAddress ?? 'unknown'),
}
