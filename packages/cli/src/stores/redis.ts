/**
 * `redis://HOST:PORT` and, with TLS, `rediss://HOST:PORT`: Redis or Valkey, with a connection of its own, which ends with the call.
 */
import { promises } from 'node:fs'
import { StoreError, systemCode } from '@owner-sso/core'
import { usageError } from '../failure/command-error.ts'
import { type Finding, good, note } from '../terminal/finding.ts'
import type { OpenedStore, StoreAccess, StoreKind } from './store-kind.ts'

const connectTimeout = 2000

export const redisStore: StoreKind = {
  isOfNetwork: true,
  forms: ['redis://HOST:PORT', 'rediss://HOST:PORT'],
  parse: (address) =>
    /^rediss?:\/\//u.test(address) && URL.canParse(address) && new URL(address).hostname !== '' ? address : undefined,
  shown(url) {
    const { protocol, host, pathname } = new URL(url)
    return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
  },
  open: openRedis,
}

/** @throws StoreError `unavailable`, `permissions`; its message names no password */
async function openRedis(url: string, { ca, encryptionKey }: StoreAccess): Promise<OpenedStore> {
  const { checkRedis, redisTokenStore } = await import('@owner-sso/token-store-redis')
  const { createClient } = await import('redis')
  const isSecure = url.startsWith('rediss:')
  // Stated, because the environment could turn it off: what goes there is the password, and the tokens.
  const verified = { tls: true, rejectUnauthorized: true } as const
  const trusted = ca !== undefined && isSecure ? { ca: await promises.readFile(ca) } : {}
  let connected = false
  const socket = {
    ...(isSecure && { ...verified, ...trusted }),
    connectTimeout,
    // A first connection that fails has failed; one that breaks later, under a proxy, is opened again.
    reconnectStrategy: (retries: number): number | false => (connected ? Math.min(2 ** retries * 50, 2000) : false),
  }
  const client = made(() => createClient({ url, socket, disableOfflineQueue: true }))
  // The store's own deadline ends what waits for a broken connection.
  client.on('error', () => undefined)
  try {
    await client.connect()
    connected = true
  } catch (error) {
    client.destroy()
    throw failure(error, new URL(url).host)
  }
  return {
    store: redisTokenStore({ client, encryptionKey }),
    sealed: encryptionKey !== undefined,
    check: () => checkServer(() => checkRedis(client)),
    close: async () => {
      client.destroy()
    },
  }
}

function made<Client>(make: () => Client): Client {
  try {
    return make()
  } catch {
    // Its message repeats the address, and the password in it.
    throw usageError('The address of the Redis store can’t be used.', 'It is redis://HOST:PORT or rediss://HOST:PORT.')
  }
}

/** The client's own message may name the address with the password in it. */
function failure(error: unknown, host: string): StoreError {
  const said = error instanceof Error ? error.message : ''
  const word = /^(?:WRONGPASS|NOAUTH|NOPERM)/u.exec(said)?.[0]
  if (word !== undefined) {
    return new StoreError('permissions', `Redis at ${host} does not accept this user name and password (${word}).`)
  }
  const isOfNumber = said.includes('DB index')
  const unknown = ': nothing there answers as Redis does: check the port, and whether it speaks TLS (rediss://)'
  const why = isOfNumber
    ? 'has no database of this number: correct the end of its address'
    : `can’t be reached${systemCode(error) === undefined ? unknown : ''}`
  return new StoreError('unavailable', `Redis at ${host} ${why}.`)
}

/** How the server is set up to keep records, and how to mend it. */
async function checkServer(
  check: () => Promise<readonly { readonly about: string; readonly message: string }[]>,
): Promise<Finding[]> {
  try {
    const problems = await check()
    return settings.map(([about, right, mend]) => {
      const found = problems.find((problem) => problem.about === about)
      const fix = `Run redis-cli CONFIG SET ${mend}, then CONFIG REWRITE, or set it in redis.conf.`
      return found === undefined ? good(about, right) : note(about, found.message, fix)
    })
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const fix = 'Allow it (ACL SETUSER … +info), or look at maxmemory-policy and appendonly there.'
    return [note('persistence', 'Redis does not tell this user how it keeps records (INFO).', fix)]
  }
}

/** What is said where a setting is right, and what it should be. */
const settings = [
  ['eviction', 'maxmemory-policy throws no token set away', 'maxmemory-policy noeviction'],
  ['persistence', 'the append-only file is on', 'appendonly yes'],
] as const
