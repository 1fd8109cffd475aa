/**
 * The cookies of one login at one instance: host-only, https-only where they came over https, few and small (interface
 * document, "Session cookie"; the firewall sets several of its own beside it).
 */
import { type Callback, Cookie, CookieJar, defaultPath, domainMatch, MemoryCookieStore } from 'tough-cookie'

const mostCookies = 50
const longestCookie = 4 * 1024
/** All of them together, so that a request's headers stay below the usual 16 KiB. */
const mostBytes = 12 * 1024

/** A jar that is never shared: not between logins, nor between the instances of one login. */
export interface InstanceCookies {
  /** What the cookie agent reads from and writes to. */
  readonly jar: CookieJar
  /** The `Cookie` header of a request, where no agent sends it; `undefined` where no cookie belongs to the address. */
  readonly headerFor: (url: URL) => string | undefined
  /** Keeps the `Set-Cookie` headers of this address's answer, where no agent does. */
  readonly keep: (headers: readonly string[], url: URL) => void
  /** All cookies as `Set-Cookie` values, so that a pending login can carry them. */
  readonly stored: () => string[]
}

/**
 * @param origin - the instance; a cookie that names another domain is dropped
 * @param restored - `Set-Cookie` values to start with
 */
export function instanceCookies(origin: string, restored: readonly string[] = []): InstanceCookies {
  const jar = new CookieJar(oneHostStore())
  const kept = new Map<string, Cookie>()
  /** Bytes of all that are kept, but for the one whose place is taken. */
  const bytesBeside = (replaced: string): number =>
    [...kept].reduce((sum, [name, cookie]) => sum + (name === replaced ? 0 : cookie.cookieString().length + 2), 0)

  function keep(header: string, url: URL): void {
    const cookie = header.length <= longestCookie ? Cookie.parse(header) : undefined
    if (!cookie || (cookie.domain !== null && !domainMatch(url.hostname, cookie.domain))) return
    cookie.domain = null
    if (url.protocol === 'https:') cookie.secure = true
    cookie.path ??= defaultPath(url.pathname)
    const name = `${cookie.key};${cookie.path}`
    if (!kept.has(name) && kept.size >= mostCookies) return
    if (bytesBeside(name) + cookie.cookieString().length > mostBytes) return
    if (jar.setCookieSync(cookie, url.href, { ignoreError: true })) kept.set(name, cookie)
  }

  for (const header of restored) keep(header, new URL(origin))
  const facade: Pick<CookieJar, 'getCookiesSync' | 'setCookieSync'> = {
    getCookiesSync: (address) => jar.getCookiesSync(withoutQuery(address, origin).href),
    setCookieSync: (cookie, address) => {
      keep(String(cookie), withoutQuery(address, origin))
      return undefined
    },
  }
  return {
    jar: Object.assign(new CookieJar(), facade),
    headerFor: (url) => jar.getCookieStringSync(url.href) || undefined,
    keep: (headers, url) => headers.forEach((header) => keep(header, url)),
    stored: () => [...kept.values()].map((cookie) => cookie.toString()),
  }
}

/**
 * All cookies are one host's, and the jar looks at their paths itself. The store would ask the Public Suffix List for the
 * host's parents, which takes longer to load than all else of a jar.
 */
function oneHostStore(): MemoryCookieStore {
  const store = new MemoryCookieStore()
  const findCookies = (_host: string, _path: string, _special: boolean, found: Callback<Cookie[]>): void =>
    store.getAllCookies(found)
  return Object.assign(store, { findCookies })
}

/**
 * The address that a request really has: http-cookie-agent leaves its port out, and escapes its `?`, so that a cookie with
 * an exact `Path` would not match.
 */
function withoutQuery(address: string | URL, origin: string): URL {
  const { pathname } = new URL(address)
  return new URL(pathname.replace(/%3F.*$/isu, ''), origin)
}
