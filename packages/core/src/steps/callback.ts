/**
 * The address that a login ends on: `{redirect_uri}?code=…&state=…&issuer=…` (interface document, "Authorization code" and
 * endpoint 2). Nothing of it is used before all of it was checked.
 */
import { type SsoErrorOptions, UnexpectedResponseError } from '@owner-sso/token-manager'
import { hash, timingSafeEqual } from 'node:crypto'
import { IssuerMismatchError, StateMismatchError } from '../errors.ts'

/** A callback that belongs to this login. */
export interface Callback {
  readonly code: string
  /** As it stands in the address, unchecked: see `service/region.ts`. */
  readonly issuer: string
}

/**
 * Checks an address against `redirect_uri` and `state`, and takes the code and the issuer out of it.
 *
 * @param address - from a `Location` header, or pasted by a person
 * @param where - what the errors say about its origin
 * @throws StateMismatchError; IssuerMismatchError where no single issuer is named (the document has it always there, and
 *   RFC 9207 section 2.4 wants an error otherwise); UnexpectedResponseError
 */
export function readCallback(
  address: string | undefined,
  expected: { readonly redirectUri: string; readonly state: string },
  where: SsoErrorOptions,
): Callback {
  const query = queryAt(address, expected.redirectUri)
  if (!query) throw new UnexpectedResponseError(elsewhere(expected.redirectUri, where), where)
  const error = query.get('error')
  if (error !== null) throw new UnexpectedResponseError(`the login was ended (${errorWord(error)})`, where)
  if (!isSame(single(query, 'state'), expected.state)) throw new StateMismatchError(where)
  const issuer = single(query, 'issuer')
  if (issuer === undefined) throw new IssuerMismatchError(where)
  const code = single(query, 'code')
  if (code === undefined || !/^[\x21-\x7e]{1,2048}$/u.test(code)) {
    throw new UnexpectedResponseError('its redirect holds no usable authorization code', where)
  }
  return { code, issuer }
}

/** A pasted address is no answer of the service's: whoever pasted it is told which one to paste. */
function elsewhere(redirectUri: string, { step }: SsoErrorOptions): string {
  if (step !== 'callback') return 'its redirect does not lead to redirect_uri'
  return `what came is not the address that this login ends on, ${redirectUri}?code=…`
}

/**
 * Where the `Location` of an answer leads: it may be relative to what was asked (RFC 9110 section 10.2.2). Text that is not an
 * address stays as it is.
 *
 * @param asked - any address at the instance that answered, with the path that was asked
 */
export function leadingTo(location: string | undefined, asked: string): string | undefined {
  const isRelative = location !== undefined && location !== '' && !URL.canParse(location)
  return isRelative && isAddressText(location) && URL.canParse(location, asked)
    ? new URL(location, asked).href
    : location
}

/** Whether all parsers read a text alike: no backslashes, spaces and controls, which are nothing that the service sends. */
function isAddressText(text: string): boolean {
  return /^[\x21-\x5b\x5d-\x7e]{1,8192}$/u.test(text)
}

function queryAt(address: string | undefined, redirectUri: string): URLSearchParams | undefined {
  if (address === undefined || !isAddressText(address) || !URL.canParse(address)) return undefined
  const url = new URL(address)
  return !url.href.includes('#') && leadsTo(url, redirectUri) ? url.searchParams : undefined
}

/** Whether an address is `redirectUri` in all but its query and its fragment. */
export function leadsTo(url: URL, redirectUri: string): boolean {
  // A query and a fragment begin with these two: anywhere else in a URL they are escaped.
  return url.href.replace(/[?#].*$/su, '') === new URL(redirectUri).href
}

/** A parameter that occurs exactly once (RFC 6749 section 3.1). */
function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name)
  return values.length === 1 ? values[0] : undefined
}

/** Compares without telling by its time where they differ. */
function isSame(given: string | undefined, expected: string): boolean {
  return given !== undefined && timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

function errorWord(error: string): string {
  return /^[a-z_]{1,64}$/u.test(error) ? error : 'an error without a name'
}
