/**
 * Which instances of the service may be spoken to: the home instance, its own registrable domain, and listed regions; and which host
 * their tokens come from.
 *
 * Every address that comes from outside (a redirect, `issuer`, a stored token set, a pending login) passes here before
 * anything is sent to it.
 */
import { RegionNotAllowedError, type SsoStep } from '@owner-sso/token-manager'
import type { SsoSettings } from './options.ts'

type Instances = Pick<SsoSettings, 'authUrl' | 'regionalAuthUrls'>

/** The base address that codes and refresh tokens of this instance go to: its own, unless the option `tokenUrl` names another. */
export function tokenUrlOf(authUrl: string, { tokenUrls }: Pick<SsoSettings, 'tokenUrls'>): string {
  const { origin } = new URL(authUrl)
  return tokenUrls.get(origin) ?? origin
}

/** The origin of an allowed instance, from any address on it; `undefined` for every other address, and for text that is not an address. */
export async function instanceAt(address: unknown, instances: Instances): Promise<string | undefined> {
  const url = readAddress(address)
  return url && !url.username && !url.password && (await isAllowed(url, instances)) ? url.origin : undefined
}

/** Like {@link instanceAt}. @throws RegionNotAllowedError in place of `undefined` */
export async function allowedInstance(address: unknown, instances: Instances, step: SsoStep): Promise<string> {
  const instance = await instanceAt(address, instances)
  if (instance !== undefined) return instance
  const origin = readAddress(address)?.origin
  throw new RegionNotAllowedError(origin === 'null' ? undefined : origin, { step, requestSent: false })
}

async function isAllowed(url: URL, { authUrl, regionalAuthUrls }: Instances): Promise<boolean> {
  return url.origin === authUrl || regionalAuthUrls.includes(url.origin) || isOfSameDomain(url, new URL(authUrl))
}

/** Another host under the home instance's registrable domain (Public Suffix List), over https on its default port. */
async function isOfSameDomain(url: URL, home: URL): Promise<boolean> {
  if (url.protocol !== 'https:' || home.protocol !== 'https:' || url.port !== '' || url.hostname.endsWith('.'))
    return false
  // The list is long: it is loaded by the first address of another host.
  const { getDomain } = await import('tldts')
  const domain = getDomain(home.hostname, { allowPrivateDomains: true })
  return domain !== null && getDomain(url.hostname, { allowPrivateDomains: true }) === domain
}

/** A URL, if the text is one that all parsers read alike: visible ASCII without backslashes. */
function readAddress(address: unknown): URL | undefined {
  if (typeof address !== 'string' || !/^[\x21-\x5b\x5d-\x7e]{1,8192}$/u.test(address)) return undefined
  // A blob: address has the origin of the https: address inside it.
  return /^https?:\/\//iu.test(address) && URL.canParse(address) ? new URL(address) : undefined
}
