/**
 * A store's address: `memory:`, `file:PATH`, `redis://…` or `rediss://…`.
 */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { usageError } from './command-error.ts'
import { expandHome } from './folders.ts'

export type StoreAddress =
  | { readonly kind: 'memory' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string }

/** @throws CommandError for an address that is none */
export function parseStoreAddress(text: string): StoreAddress {
  if (text === 'memory:' || text === 'memory') return { kind: 'memory' }
  if (text.startsWith('file:')) {
    const path = text.startsWith('file://') ? pathOfUrl(text) : expandHome(text.slice('file:'.length))
    if (path !== undefined && path !== '') return { kind: 'file', path: resolve(path) }
  } else if (/^rediss?:\/\//u.test(text) && URL.canParse(text) && new URL(text).hostname !== '') {
    return { kind: 'redis', url: text }
  }
  throw usageError(
    'The store’s address can’t be understood.',
    'It is file:PATH, redis://HOST:PORT, rediss://HOST:PORT or memory: (owner-sso stores tells more).',
  )
}

/** The address for people and logs: without user name and password. */
export function shownAddress(address: StoreAddress): string {
  if (address.kind === 'memory') return 'memory:'
  if (address.kind === 'file') return `file:${address.path}`
  const { protocol, host, pathname } = new URL(address.url)
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
}

function pathOfUrl(text: string): string | undefined {
  try {
    return fileURLToPath(text)
  } catch {
    return undefined
  }
}
