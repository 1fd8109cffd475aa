/**
 * What a store hands back, checked field by field: whoever can write to a store can put anything there, and so can a
 * later release. What is not a record is reported as such, and never looked into.
 */
import { StoreError, type StoreErrorOptions } from '../errors.ts'
import { howTokensAreLost, lostItsTokens } from '../issuer/token-set.ts'
import type { AccountRecord, TokenRecord } from './token-record.ts'
import type { Versioned } from './token-store.ts'

type Check = (value: unknown) => boolean
type Fields = Readonly<Record<string, Check>>

const string: Check = (value) => typeof value === 'string'
const filled: Check = (value) => typeof value === 'string' && value !== ''
const number: Check = (value) => Number.isFinite(value)
const count: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
/** A fleet has one address, or a few: the last one that was right is not taken apart again. */
let lastAddress: string | undefined
const address: Check = (value) => {
  if (typeof value !== 'string') return false
  if (value === lastAddress) return true
  if (!URL.canParse(value)) return false
  lastAddress = value
  return true
}
const oneOf =
  (...words: readonly unknown[]): Check =>
  (value) =>
    words.includes(value)
/** Null as well: JSON writes a NaN as null. */
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value)
/** Fields are an object's own: what a prototype says of them does not count. */
const object = (fields: Fields): Check => {
  const checks = Object.entries(fields)
  return (value) => {
    if (!isObject(value)) return false
    for (const [name, check] of checks) if (!check(Object.hasOwn(value, name) ? value[name] : undefined)) return false
    return true
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const valuesOf =
  (check: Check): Check =>
  (value) =>
    typeof value === 'object' && value !== null && Object.values(value).every(check)

const fieldsOfTokenSet: Fields = {
  access_token: filled,
  refresh_token: filled,
  token_type: filled,
  expires_at: number,
  auth_url: address,
  id_token: optional(string),
  expires_in: optional(number),
  refresh_token_expires_at: optional(number),
  state: optional(string),
}
export const isTokenSet: Check = object(fieldsOfTokenSet)
const holder: Check = object({
  pid: number,
  host: optional(string),
  started: optional(string),
  boot: optional(string),
  pidNamespace: optional(string),
  timeNamespace: optional(string),
})
const rejections: Check = object({ inARow: count, at: number, description: optional(string) })
const flag = optional(oneOf(true))
const refusals: Check = object({
  inARow: count,
  thisOne: oneOf(true, false),
  fellBack: flag,
  refreshed_at: optional(number),
})
const intent: Check = object({ id: filled, holder, replay: count, at: number, answerLost: flag, restored: flag })
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)

const schema: Fields = { schema: oneOf(1) }
const ancestry: Fields = {
  ...schema,
  generation: number,
  session: optional(filled),
  replaces: optional(listOf(filled)),
  spent: optional(listOf(filled)),
}
const predecessor: Check = object({
  tokens: object({ ...fieldsOfTokenSet, refresh_token: string }),
  obtained_at: number,
  lifetime: number,
})
const tokensHeld: Fields = {
  ...ancestry,
  refreshes: count,
  lineage: filled,
  tokens: object({ ...fieldsOfTokenSet, access_token: string }),
  obtained_at: number,
  lifetime: number,
  refusals: optional(refusals),
  refusedBefore: optional(count),
  predecessor: optional(predecessor),
}
/** An access token that has no life may be empty: see `bareTokenSet`. */
const withoutLife: Check = object({ lifetime: oneOf(0) })
const withAccessToken: Check = object({ tokens: object({ access_token: filled }) })
const holdingTokens = (fields: Fields): Check => {
  const held = object({ ...tokensHeld, ...fields })
  return (value) => held(value) && (withAccessToken(value) || withoutLife(value))
}

const signedIn: Check = holdingTokens({
  state: oneOf('signed-in'),
  intent: optional(intent),
  rejections: optional(rejections),
})
const otherFields = ['state', 'intent', 'rejections', 'reason', 'description']
/** Whatever a history is, nothing depends on it; `failure` is a former release's. */
const uncheckedFields = ['history', 'failure']
const knownFields = new Set([...Object.keys(tokensHeld), ...otherFields, ...uncheckedFields])

/** What a newer release noted in an account's record, in fields that are not known here: handed on from record to record. */
export function unknownFields(record: AccountRecord): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !knownFields.has(name)))
}

const spooled: Check = object({ version: count, derivedFrom: signedIn, next: signedIn })
const reasons = oneOf(
  'refresh_token_rejected',
  'rotated_token_lost',
  'no_refresh_token',
  'other_owner',
  'refresh_token_spent',
)

const kinds: Readonly<Record<TokenRecord['state'], Check>> = {
  'signed-in': signedIn,
  'reauthentication-required': holdingTokens({ reason: reasons, description: optional(string) }),
  'signed-out': object({ ...ancestry, signed_out_at: optional(number) }),
  firewall: object({
    ...schema,
    challenges: count,
    noted_at: number,
    wait: number,
    because: optional(oneOf('invalid_client')),
  }),
  'refresh-budget': object({
    ...schema,
    window: count,
    used: count,
    free: (value) => Array.isArray(value) && count(value[0]) && count(value[1]),
  }),
  tries: object({
    ...schema,
    sign_ins: valuesOf((value) => Array.isArray(value) && count(value[0]) && number(value[1])),
  }),
  spooled: object({ ...schema, result: optional(spooled) }),
  'refresh-tokens': object({
    ...schema,
    saved: valuesOf((value) => Array.isArray(value) && filled(value[0]) && filled(value[1])),
  }),
  notes: object({ ...schema, notes: (value) => object({})(value) && !Array.isArray(value) }),
  'roll-call': object({ ...schema, call: filled }),
  keeper: object({ ...schema, holder: optional(holder), signs: count, at: optional(number), swept_at: number }),
  sealed: object({ ...schema, key: filled, nonce: filled, sealed: filled }),
}

export function isRecord<State extends TokenRecord['state']>(
  record: TokenRecord,
  ...states: readonly State[]
): record is Extract<TokenRecord, { state: State }> {
  if (!isObject(record) || !Object.hasOwn(record, 'state')) return false
  for (const state of states) if (record.state === state) return kinds[state](record)
  return false
}

export function isPlainRecord(record: TokenRecord): boolean {
  if (!isObject(record) || !Object.hasOwn(record, 'state')) return false
  return Object.entries(kinds).some(([state, isKind]) => state !== 'sealed' && state === record.state && isKind(record))
}

/**
 * What a store returned, as one of these kinds of records.
 *
 * @throws StoreError `wrong-key` for one that is sealed, `newer-release` for one in a form that is not known here yet, `corrupt` for
 *   what is not one: none of them means that there is no record
 */
export function checkedRecord<State extends TokenRecord['state']>(
  { version, writeId, record }: Versioned,
  ...states: readonly State[]
): Omit<Versioned, 'record'> & { readonly record: Extract<TokenRecord, { state: State }> } {
  const isNumbered = Number.isSafeInteger(version) && version > 0
  const isWrite = isNumbered && (writeId === undefined || typeof writeId === 'string')
  const unread = isWrite ? { version, writeId } : undefined
  if (isWrite) {
    if (isRecord(record, ...states)) return { version, writeId, record }
    if (isRecord(record, 'sealed')) {
      const message = 'The records of this token store are encrypted, and no key was given.'
      throw new StoreError('wrong-key', message, { unread })
    }
  }
  refuseNewer(record, unread)
  if (isObject(record) && lostItsTokens(record['tokens'])) {
    throw new StoreError('corrupt', `The token store holds ${howTokensAreLost}. Sign in again.`, { unread })
  }
  const message = 'The token store holds something that is not a token record. It was left as it is.'
  throw new StoreError('corrupt', message, { unread })
}

/** Nothing is wrong with a record in a form that a newer release brought. @throws StoreError `newer-release` */
export function refuseNewer(record: unknown, unread?: StoreErrorOptions['unread']): void {
  if (!isObject(record) || !Number.isSafeInteger(record['schema']) || Number(record['schema']) <= 1) return
  const remedy = 'Update this one. Don’t remove the record: its account may be signed in.'
  throw new StoreError('newer-release', `The token store holds a record of a newer release of owner-sso. ${remedy}`, {
    unread,
  })
}
