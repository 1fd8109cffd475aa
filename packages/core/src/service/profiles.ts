/**
 * What one word settles together: how a kind of service is spoken to. The interface document's is the default; today's is what people
 * recorded up to 2026 (`docs/guides/todays-service.md`); the official kind knows registered applications alone
 * (`docs/guides/registered-application.md`). Each single option comes before it. Another kind is another row.
 */
import { isLoopback, type TransportName } from '@owner-sso/token-manager/support'

/** How the code challenge is derived from the verifier. */
export type CodeChallengeEncoding = 'hex-digest' | 'raw-digest'

/** What one kind of service takes. */
export interface ServiceProfile {
  readonly codeChallengeEncoding: CodeChallengeEncoding
  /** @param authUrl - base address of the home instance */
  readonly redirectUri: (authUrl: string) => string
  readonly transport: TransportName
  /** Path of the owner API that lists what an account has. */
  readonly vehicleList: string
}

/**
 * `document`: the interface document's service. `current`: the service as people met it up to 2026. `registered`: the official kind,
 * for an application that was registered there.
 */
export type ServiceName = 'document' | 'current' | 'registered'

const profiles: Readonly<Record<ServiceName, ServiceProfile>> = {
  document: {
    codeChallengeEncoding: 'hex-digest',
    redirectUri: (authUrl) => `${authUrl}/void/callback`,
    transport: 'document',
    vehicleList: '/api/1/vehicles',
  },
  current: {
    codeChallengeEncoding: 'raw-digest',
    redirectUri: (authUrl) => `${ownScheme(new URL(authUrl))}://auth/callback`,
    transport: 'tls13-http1',
    vehicleList: '/api/1/products',
  },
  registered: {
    codeChallengeEncoding: 'raw-digest',
    // It has registered one, which has to be given.
    redirectUri: () => '',
    transport: 'tls13-http1',
    vehicleList: '/api/1/vehicles',
  },
}

/** The words that the option `service` takes. */
export const serviceNames: readonly ServiceName[] = ['document', 'current', 'registered']

/**
 * What a kind of service takes: such as the path to list vehicles at.
 *
 * @throws TypeError for another word
 * @example
 * const { vehicleList } = serviceProfile('current') // '/api/1/products'
 */
export function serviceProfile(service: ServiceName = 'document'): ServiceProfile {
  return profiles[serviceFromText(service, 'service')]
}

/**
 * The option `service` from text, as in an environment variable.
 *
 * @param where - what the text is, for the error
 * @throws TypeError for another word
 */
export function serviceFromText(text: string, where: string): ServiceName {
  const service = serviceNames.find((name) => name === (typeof text === 'string' ? text.trim() : text))
  if (service !== undefined) return service
  throw new TypeError(`${where} must be one of ${serviceNames.map((name) => `'${name}'`).join(', ')}`)
}

/** Labels before a country's that are part of its public suffix, such as `co.uk` and `com.cn`. */
const suffixLabels = new Set('ac co com edu gob gov net ne nom or org'.split(' '))

/**
 * The scheme of the service's own application: its name, which is the label before the public suffix. The whole list of suffixes takes
 * longer to load than all of core, and is not in everybody's bundle: the option `redirectUri` serves whom these few don't.
 */
function ownScheme(authUrl: URL): string {
  const host = authUrl.hostname
  const labels = host.split('.')
  // A URL writes IPv4 addresses in digits, and IPv6 in brackets.
  const isNamed = labels.length > 1 && labels.at(-1) !== 'localhost' && !/^[\d.]+$|^\[/u.test(host)
  if (!isNamed || isLoopback(authUrl)) return 'owner'
  const isOfCountry = labels.at(-1)?.length === 2 && labels.length > 2 && suffixLabels.has(labels.at(-2) ?? '')
  const name = labels.at(isOfCountry ? -3 : -2) ?? ''
  // A scheme begins with a letter (RFC 3986 section 3.1); a host name need not.
  return /^[a-z]/u.test(name) ? name : 'owner'
}
