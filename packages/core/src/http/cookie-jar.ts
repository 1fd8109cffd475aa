/**
 * The cookies of one login at one instance: host-only, https-only where they came over https, few and small (interface
 * document, "Session cookie"; the firewall sets several of its own beside it).
 *
 * tough-cookie parses and matches them. Its own jar is for many hosts and loads the Public Suffix List, which takes longer than
 * loading all the rest; the few cookies of one host fit into a map.
 */
import { Cookie, cookieCompare, defaultPath, domainMatch, pathMatch } from 'tough-cookie'

const mostCookies = 50
const longestCookie = 4 * 1024
/** All of them together, so that a request's headers stay below the usual 16 KiB. */
const mostBytes = 12 * 1024

/** What a cookie agent reads from and writes to, in the names that tough-cookie's jar has for it. */
export interface AgentJar {
  readonly getCookiesSync: (address: string) => Cookie[]
  readonly setCookieSync: (header: Cookie | string, address: string) => undefined
  readonly store: { readonly synchronous: true }
}

/** A jar that is never shared: not between logins, nor between the instances of one login. */
export interface InstanceCookies {
  readonly jar: AgentJar
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
  const { hostname, protocol } = new URL(origin)
  const isSecure = protocol === 'https:'
  const kept = new Map<string, Cookie>()
  /** Bytes of all that are kept, but for the one whose place is taken. */
  const bytesBeside = (replaced: string): number =>
    [...kept].reduce((sum, [name, cookie]) => sum + (name === replaced ? 0 : cookie.cookieString().length + 2), 0)

  function keep(header: string, path: string): void {
    const cookie = header.length <= longestCookie ? Cookie.parse(header) : undefined
    if (!cookie || (cookie.domain !== null && !domainMatch(hostname, cookie.domain))) return
    Object.assign(cookie, { domain: null, hostOnly: true, lastAccessed: new Date() })
    if (isSecure) cookie.secure = true
    if (!cookie.path?.startsWith('/')) cookie.path = defaultPath(path)
    if (!isAsItsNameSays(cookie)) return
    const name = `${cookie.key};${cookie.path}`
    if (!kept.has(name) && kept.size >= mostCookies) return
    if (bytesBeside(name) + cookie.cookieString().length > mostBytes) return
    if (isOver(cookie)) kept.delete(name)
    else kept.set(name, cookie)
  }

  /** Those that belong to a path, oldest first. */
  const cookiesFor = (path: string): Cookie[] =>
    [...kept.values()].filter(
      (cookie) => pathMatch(path, cookie.path ?? '/') && (isSecure || !cookie.secure) && !isOver(cookie),
    )

  for (const header of restored) keep(header, '/')
  return {
    jar: new Jar(
      (address) => cookiesFor(pathOf(address)),
      (header, address) => keep(String(header), pathOf(address)),
    ),
    headerFor: ({ pathname }) =>
      cookiesFor(pathname)
        .toSorted(cookieCompare)
        .map((cookie) => cookie.cookieString())
        .join('; ') || undefined,
    keep: (headers, { pathname }) => headers.forEach((header) => keep(header, pathname)),
    stored: () => [...kept.values()].map((cookie) => cookie.toString()),
  }
}

/** A class of its own: axios copies plain objects. */
class Jar implements AgentJar {
  readonly store = { synchronous: true } as const
  readonly getCookiesSync: AgentJar['getCookiesSync']
  readonly #set: (header: Cookie | string, address: string) => void

  constructor(get: AgentJar['getCookiesSync'], set: (header: Cookie | string, address: string) => void) {
    this.getCookiesSync = get
    this.#set = set
  }

  setCookieSync(header: Cookie | string, address: string): undefined {
    this.#set(header, address)
  }
}

/** Whether a cookie has the attributes that its name promises (RFC 6265bis, "Cookie Name Prefixes"). */
function isAsItsNameSays({ key, secure, path }: Cookie): boolean {
  if (key.startsWith('__Host-')) return secure && path === '/'
  return !key.startsWith('__Secure-') || secure
}

function isOver(cookie: Cookie): boolean {
  return (cookie.expiryTime() ?? Number.POSITIVE_INFINITY) <= Date.now()
}

/** Of an address as http-cookie-agent makes it: it escapes the `?` of a request, so that an exact `Path` would not match. */
function pathOf(address: string): string {
  const [, path = ''] = /:\/\/[^/?#]*([^?#]*)/u.exec(address) ?? []
  return path.replace(/%3F.*/iu, '') || '/'
}
