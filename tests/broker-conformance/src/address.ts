/**
 * Where the broker is: a port of this machine, an address with TLS, or a Unix socket.
 */
import { isIPv4 } from 'node:net'

export interface Address {
  /** As its user wrote it. */
  readonly shown: string
  /** Paths of the broker are below it; without a slash at its end. */
  readonly base: string
  /** The path of a Unix socket. */
  readonly socketPath?: string
}

/** It was called in a way that makes no sense. The message says how to call it. */
export class Misused extends Error {}

/** @throws Misused that says what an address is; it never repeats what was given, which may be a key */
export function parseAddress(text: string): Address {
  const [, socketPath] = /^unix:(.+)$/su.exec(text) ?? []
  if (socketPath !== undefined) return { shown: text, base: 'http://localhost', socketPath }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new Misused('The address must be http://127.0.0.1:8700, https://broker.example.com or unix:/path/of.sock.')
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new Misused('The address has neither a user, nor a query, nor a fragment. Keys are not part of it.')
  }
  if (url.protocol === 'http:' && !isOfThisMachine(url.hostname)) {
    throw new Misused('Beyond this machine the address must be https://: the key would be sent for all to read.')
  }
  const base = url.href.replace(/\/+$/u, '')
  return { shown: base, base }
}

function isOfThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'))
}
