/**
 * `redis://HOST:PORT` and, with TLS, `rediss://HOST:PORT`: Redis or Valkey.
 */
import type { StoreKind } from './store-kind.ts'

export const redisStore: StoreKind = {
  isOfNetwork: true,
  forms: ['redis://HOST:PORT', 'rediss://HOST:PORT'],
  parse: (address) =>
    /^rediss?:\/\//u.test(address) && URL.canParse(address) && new URL(address).hostname !== '' ? address : undefined,
  shown(url) {
    const { protocol, host, pathname } = new URL(url)
    return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
  },
  async open(url, how) {
    const { openRedis } = await import('./redis-connection.ts')
    return openRedis(url, how)
  },
}
