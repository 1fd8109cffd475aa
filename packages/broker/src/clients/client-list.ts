/**
 * The list of clients as it is kept in the store, and what its parts may be.
 */
import { timingSafeEqual } from 'node:crypto'
import { accountName, checkedAccountName, type Notes } from '@owner-sso/core'
import { isObject } from '../given/given.ts'
import { type ClientKey, ClientsError, type ClientScope, type KeptClient } from './client.ts'

type Found = readonly [KeptClient, ClientKey]

/** Clients, and whose key has a hash: found by its head, and the whole compared in constant time. */
export interface ClientList {
  readonly clients: readonly KeptClient[]
  readonly findKey: (hash: string) => Found | undefined
}

const headOf = (hash: string): string => hash.slice(0, 8)

/** @throws ClientsError `malformed`: nobody is let in by a list that is not understood */
export function parseClientList(notes: Notes): ClientList {
  const clients: unknown = notes['clients'] ?? []
  if (!Array.isArray(clients) || !clients.every(isKeptClient)) {
    const what = 'The list of clients in the token store can’t be understood.'
    throw new ClientsError('malformed', `${what} Restore the store from a backup, or update this program.`)
  }
  const byHead = new Map<string, Found[]>()
  for (const client of clients) {
    for (const key of client.keys) {
      const head = headOf(key.sha256)
      byHead.set(head, [...(byHead.get(head) ?? []), [client, key]])
    }
  }
  const findKey = (hash: string): Found | undefined =>
    byHead.get(headOf(hash))?.find(([, key]) => timingSafeEqual(Buffer.from(key.sha256), Buffer.from(hash)))
  return { clients, findKey }
}

function isKeptClient(value: unknown): value is KeptClient {
  const { name, accounts, scope, invited_at, expires_at, limits, keys }: Fields<KeptClient> = Object(value)
  return (
    isText(name) &&
    Array.isArray(accounts) &&
    accounts.length > 0 &&
    accounts.every(isText) &&
    isScope(scope) &&
    isTime(invited_at) &&
    isTime(expires_at) &&
    (limits === undefined || (isObject(limits) && isLimit(limits))) &&
    Array.isArray(keys) &&
    keys.length > 0 &&
    keys.every(isKey)
  )
}

type Fields<Of> = { readonly [Name in keyof Of]?: unknown }

function isKey(value: unknown): value is ClientKey {
  const { sha256, expires_at }: Fields<ClientKey> = Object(value)
  return typeof sha256 === 'string' && /^[\da-f]{64}$/u.test(sha256) && isTime(expires_at)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Seconds since the epoch, where there is one. */
function isTime(value: unknown): boolean {
  return value === undefined || Number.isSafeInteger(value)
}

function isLimit({ callsPerMinute }: { readonly callsPerMinute?: unknown }): boolean {
  return callsPerMinute === undefined || isCallsPerMinute(callsPerMinute)
}

/** What a scope may consist of. */
export const scopes: readonly ClientScope[] = ['token', 'proxy']

export function isScope(value: unknown): value is readonly ClientScope[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => scopes.includes(word))
}

export function isCallsPerMinute(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0
}

/** The accounts of a list, by the names that their tokens are kept under. */
export function accountNames(list: unknown): readonly string[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  const names = list.map((name) => (typeof name === 'string' ? accountNamed(name) : undefined))
  return names.every((name) => name !== undefined) ? [...new Set(names)] : undefined
}

/** The account that somebody names, by any spelling of its e-mail; `undefined` where it can be nobody's. */
export function accountNamed(name: string): string | undefined {
  try {
    return checkedAccountName(accountName(name))
  } catch {
    return undefined
  }
}
