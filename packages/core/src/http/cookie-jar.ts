/**
 * The cookies of one login: kept per origin, host-only, https-only where they came over https, few and small (interface
 * document, "Session cookie"; the firewall sets several of its own beside it).
 */
import { Cookie, CookieJar, defaultPath, domainMatch } from 'tough-cookie'

const mostCookies = 50
const longestCookie = 4 * 1024
/** All of them together, so that a request's headers stay below the usual 16 KiB. */
const mostBytes = 12 * 1024

/** The cookies of one login. A jar is never shared between logins, nor between the instances of one login. */
export interface SessionCookies {
  /** What the cookie agent reads from and writes to: by request address, whatever the origin. */
  readonly jar: CookieJar
  /** All cookies of an origin as `Set-Cookie` values, so that a pending login can carry them. */
  readonly storedFor: (origin: string) => string[]
}

/** @param restored - `Set-Cookie` values to start with, and the origin that they belong to */
export function sessionCookies(restored?: { origin: string; cookies: readonly string[] }): SessionCookies {
  const jars = new Map<string, OriginJar>()
  const jarOf = (url: URL): OriginJar => {
    const jar = jars.get(url.origin) ?? originJar()
    jars.set(url.origin, jar)
    return jar
  }
  for (const header of restored?.cookies ?? []) {
    const url = new URL(restored?.origin ?? '')
    jarOf(url).set(header, url)
  }
  const facade: Pick<CookieJar, 'getCookiesSync' | 'setCookieSync'> = {
    getCookiesSync: (address) => jarOf(withoutQuery(address)).get(withoutQuery(address)),
    setCookieSync: (cookie, address) => {
      jarOf(withoutQuery(address)).set(String(cookie), withoutQuery(address))
      return undefined
    },
  }
  return { jar: Object.assign(new CookieJar(), facade), storedFor: (origin) => jars.get(origin)?.all() ?? [] }
}

interface OriginJar {
  get(url: URL): Cookie[]
  set(header: string, url: URL): void
  all(): string[]
}

function originJar(): OriginJar {
  const jar = new CookieJar()
  const kept = new Map<string, Cookie>()
  const bytes = (): number => [...kept.values()].reduce((sum, cookie) => sum + cookie.cookieString().length + 2, 0)
  return {
    get: (url) => jar.getCookiesSync(url.href),
    all: () => [...kept.values()].map((cookie) => cookie.toString()),
    set(header, url) {
      const cookie = header.length <= longestCookie ? Cookie.parse(header) : undefined
      if (!cookie || (cookie.domain !== null && !domainMatch(url.hostname, cookie.domain))) return
      // Host-only whatever the header asked for, and never back over plain http.
      cookie.domain = null
      if (url.protocol === 'https:') cookie.secure = true
      cookie.path ??= defaultPath(url.pathname)
      const name = `${cookie.key};${cookie.path}`
      if (!kept.has(name) && kept.size >= mostCookies) return
      if (bytes() + cookie.cookieString().length > mostBytes) return
      if (jar.setCookieSync(cookie, url.href, { ignoreError: true })) kept.set(name, cookie)
    },
  }
}

/** http-cookie-agent escapes the `?` of an address, so that a cookie with an exact `Path` would not match it. */
function withoutQuery(address: string | URL): URL {
  return new URL(String(address).replace(/(?:\?|%3F).*$/isu, ''))
}
