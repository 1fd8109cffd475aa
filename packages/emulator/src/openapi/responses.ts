/**
 * Answers as the description has them: what every answer carries, and the two that any endpoint may give.
 */
import { ref, type Part } from './part.ts'

const commonHeaders: Part = {
  'x-owner-sso-emulator': ref('headers', 'Emulator'),
  'cache-control': ref('headers', 'CacheControl'),
}
const cookieHeaders: Part = { 'set-cookie': ref('headers', 'SetCookie') }

/** One of several schemas of this media type, by their names. */
export function content(mediaType: string, ...schemas: readonly string[]): Part {
  const [first = '', ...others] = schemas
  const any = schemas.map((name) => ref('schemas', name))
  return { [mediaType]: { schema: others.length > 0 ? { anyOf: any } : ref('schemas', first) } }
}

/** An answer without cookies: JSON, or the firewall's page. */
export function response(description: string, ...contents: readonly Part[]): Part {
  return { description, headers: commonHeaders, content: Object.assign({}, ...contents) }
}

/** An answer that may be a page of the login, with its cookies, or another one, without. */
export function mixedResponse(description: string, ...contents: readonly Part[]): Part {
  const cookies = { 'set-cookie': ref('headers', 'PageCookies') }
  return { ...response(description, ...contents), headers: { ...commonHeaders, ...cookies } }
}

/** A page of the login, which sets its cookies again. */
export function pageResponse(description: string, ...pages: readonly string[]): Part {
  return { description, headers: { ...commonHeaders, ...cookieHeaders }, content: content('text/html', ...pages) }
}

export function redirectResponse(description: string, location: string): Part {
  return { description, headers: { ...commonHeaders, ...cookieHeaders, location: ref('headers', location) } }
}

/** What the firewall answers in place of any endpoint. */
export const challenge: Part = response('The firewall blocks this client', content('text/html', 'ChallengePage'))

/** What becomes of a body that can't be read at all. */
export const unreadable: Part = {
  '413': response('The body is larger than 64 KiB', content('text/html', 'NoticePage')),
  '415': response('The encoding or the character set of the body is not supported', content('text/html', 'NoticePage')),
}
