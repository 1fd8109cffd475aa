/**
 * Who may call: the clients, their API keys, and the accounts that each may use.
 *
 * Keys are 256 random bits that nobody can guess, so a plain SHA-256 of them is what is kept: a file that got away opens
 * nothing.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { accountName } from '@owner-sso/core'
import { SettingsError } from './settings.ts'

export interface Client {
  /** For people. */
  readonly name: string
  /** SHA-256 of the API key, 32 bytes. */
  readonly keyHash: Buffer
  /** Names under which token sets stand in the store. */
  readonly accounts: readonly string[]
}

/**
 * Reads the clients' file: `{ "clients": [{ "name", "keySha256", "accounts": [] }] }`.
 *
 * @throws SettingsError that says what is wrong in it
 */
export async function readClients(file: string): Promise<readonly Client[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const code = property(error, 'code')
    throw new SettingsError(`OWNER_SSO_CLIENTS_FILE names ${file}, which can’t be read (${String(code)}).`)
  })
  return clientsFrom(text, (problem) => new SettingsError(`OWNER_SSO_CLIENTS_FILE, ${file}: ${problem}`))
}

/**
 * The client whose key this is. Every client is compared with, in constant time, whichever it is.
 *
 * @param key - as the caller sent it
 */
export function clientWithKey(clients: readonly Client[], key: string): Client | undefined {
  const hash = sha256(key)
  let found: Client | undefined
  for (const client of clients) if (timingSafeEqual(client.keyHash, hash)) found = client
  return found
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function clientsFrom(text: string, problem: (sentence: string) => SettingsError): readonly Client[] {
  const list = property(parsed(text), 'clients')
  if (!Array.isArray(list) || list.length === 0) {
    throw problem('it must be JSON with a list named clients, and at least one client in it.')
  }
  const clients = list.map((entry: unknown, index) => {
    const [name, hash, accounts] = ['name', 'keySha256', 'accounts'].map((key) => property(entry, key))
    const where = `client ${index + 1}`
    if (typeof name !== 'string' || name === '') throw problem(`${where} has no name.`)
    if (typeof hash !== 'string' || !/^[\da-f]{64}$/iu.test(hash)) {
      throw problem(`keySha256 of ${where} must be the SHA-256 of its API key, 64 hexadecimal digits.`)
    }
    const names = accountNames(accounts)
    if (names === undefined) throw problem(`accounts of ${where} must be a list of account names.`)
    return { name, keyHash: Buffer.from(hash, 'hex'), accounts: names }
  })
  if (new Set(clients.map(({ keyHash }) => keyHash.toString('hex'))).size < clients.length) {
    throw problem('two clients have the same API key.')
  }
  return clients
}

/** The accounts of a list, by the names that their tokens are kept under. */
function accountNames(list: unknown): readonly string[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  const names = list.map((name) => (typeof name === 'string' && name !== '' ? accountNamed(name) : undefined))
  return names.every((name) => name !== undefined) ? names : undefined
}

/** The account that somebody names, by any spelling of its e-mail; `undefined` where it can be nobody's. */
export function accountNamed(name: string): string | undefined {
  try {
    return accountName(name)
  } catch {
    return undefined
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
