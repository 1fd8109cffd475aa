/**
 * The list of clients as JSON, as it stands in a file or a store. Reads what apps/shared-proxy has always had:
 *
 * `{ "clients": [{ "name": "home server", "keySha256": "…", "accounts": ["ann@example.com"] }] }`
 *
 * with `scope`, `invitedAt`, `expiresAt`, `limits` and `olderKeys` where there are some. A client without a scope is of that
 * time: it may call, and gets no token.
 */
import { accountName, checkedAccountName, nearestName, type Notes } from '@owner-sso/core'
import type { ClientKey, ClientLimits, ClientScope, KeptClient } from './client.ts'
import { ClientsError } from './clients-error.ts'
import { keyFinder, type KeyFinder } from './key-finder.ts'

/** Clients, and which of their keys is whose. */
export interface ClientList {
  readonly clients: readonly KeptClient[]
  readonly findKey: KeyFinder
}

/**
 * @param where - the file or the store, for the message
 * @throws ClientsError `malformed`, with what is wrong
 */
export function parseClientList(notes: Notes, where: string): ClientList {
  const list: unknown = property(notes, 'clients') ?? []
  if (!Array.isArray(list)) throw problem(where, 'clients must be a list.')
  const clients = list.map((entry: unknown, index) =>
    clientOf(entry, (sentence) => problem(where, `client ${index + 1}: ${sentence}`)),
  )
  const hashes = clients.flatMap(({ keys }) => keys.map((key) => key.sha256))
  if (new Set(hashes).size < hashes.length) throw problem(where, 'two clients have the same API key.')
  return { clients, findKey: keyFinder(clients) }
}

/** The list as it is written. */
export function clientListNotes(clients: readonly KeptClient[]): Notes {
  return { clients: clients.map(entryOf) }
}

function entryOf({ name, keys, accounts, scope, invited_at, expires_at, limits }: KeptClient): object {
  const older = keys.slice(0, -1)
  return {
    name,
    keySha256: keys.at(-1)?.sha256,
    ...(older.length > 0 && {
      olderKeys: older.map((key) => ({ keySha256: key.sha256, ...dateOf('expiresAt', key.expires_at) })),
    }),
    accounts,
    scope,
    ...dateOf('invitedAt', invited_at),
    ...dateOf('expiresAt', expires_at),
    ...(limits && { limits }),
  }
}

function dateOf(name: string, seconds: number | undefined): object {
  return seconds === undefined ? {} : { [name]: new Date(seconds * 1000).toISOString() }
}

type Problem = (sentence: string) => ClientsError

const entryNames = ['name', 'keySha256', 'olderKeys', 'accounts', 'scope', 'invitedAt', 'expiresAt', 'limits']

/** People write this file too. Any other name may be a later release's; one that is meant for ours would be a limit that nobody keeps. */
function rejectMistyped(entry: unknown, names: readonly string[], because: Problem): void {
  for (const name of Object.keys(Object(entry))) {
    const meant = nearestName(name, names)
    if (meant !== undefined && meant !== name) throw because(`${name} is mistyped: write ${meant}.`)
  }
}

function clientOf(entry: unknown, because: Problem): KeptClient {
  rejectMistyped(entry, entryNames, because)
  const name = property(entry, 'name')
  if (typeof name !== 'string' || name === '') throw because('it has no name.')
  const accounts = accountNames(property(entry, 'accounts'))
  if (accounts === undefined) throw because('accounts must be a list of account names.')
  const older: unknown = property(entry, 'olderKeys') ?? []
  if (!Array.isArray(older)) throw because('olderKeys must be a list.')
  const ending = older.map((key: unknown) => {
    rejectMistyped(key, ['keySha256', 'expiresAt'], because)
    return { ...keyOf(key, because), ...timeOf('expires_at', property(key, 'expiresAt'), because) }
  })
  return {
    name,
    keys: [...ending, keyOf(entry, because)],
    accounts,
    scope: scopeOf(property(entry, 'scope'), because),
    ...timeOf('invited_at', property(entry, 'invitedAt'), because),
    ...timeOf('expires_at', property(entry, 'expiresAt'), because),
    ...limitsOf(property(entry, 'limits'), because),
  }
}

function keyOf(entry: unknown, because: Problem): ClientKey {
  const hash = property(entry, 'keySha256')
  if (typeof hash !== 'string' || !/^[\da-f]{64}$/iu.test(hash)) {
    throw because('keySha256 must be the SHA-256 of its API key, 64 hexadecimal digits.')
  }
  return { sha256: hash.toLowerCase() }
}

/** What a scope may consist of. */
export const scopes: readonly ClientScope[] = ['token', 'proxy']

export function isScope(value: unknown): value is readonly ClientScope[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => scopes.includes(word))
}

function scopeOf(value: unknown, because: Problem): readonly ClientScope[] {
  if (value === undefined) return ['proxy']
  if (!isScope(value)) throw because('scope must be a list of token and proxy.')
  return [...new Set(value)]
}

function timeOf<Name extends string>(
  name: Name,
  value: unknown,
  because: Problem,
): { readonly [name in Name]?: number } {
  if (value === undefined) return {}
  const time = typeof value === 'string' ? Date.parse(value) / 1000 : Number.NaN
  if (Number.isNaN(time)) throw because('its times must be like 2027-01-31T12:00:00Z.')
  const times: { [name in Name]?: number } = {}
  times[name] = Math.floor(time)
  return times
}

function limitsOf(value: unknown, because: Problem): { readonly limits?: ClientLimits } {
  if (value === undefined) return {}
  const callsPerMinute = property(value, 'callsPerMinute')
  if (!isCallsPerMinute(callsPerMinute)) throw because('limits.callsPerMinute must be a whole number above 0.')
  return { limits: { callsPerMinute } }
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

function problem(where: string, sentence: string): ClientsError {
  return new ClientsError('malformed', `${where}: ${sentence}`)
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
