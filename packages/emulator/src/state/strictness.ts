/**
 * What legacy clients do that the interface document doesn't have: `strictness` settles whether it is taken, and whether pages are as
 * recorded. docs/reference/compatibility.md lists it all.
 */
import { encodeText } from '../support/markup.ts'
import type { Fields } from '../http/service-request.ts'
import type { EmulatorSettings } from '../options/check-options.ts'

/** The settings that these rules depend on. One that is undefined follows `strictness`. */
type StrictnessSettings = Pick<EmulatorSettings, 'strictness' | 'service'> &
  Partial<Pick<EmulatorSettings, 'codeChallengeEncoding' | 'redirectUris'>>

/** Interface document, "Code verifier": 86 alphanumeric characters. */
const documentVerifier = /^[A-Za-z0-9]{86}$/u
/** Addresses that legacy clients have built in: the page that does not exist, of any host, or that of an application. */
const legacyCallback = /^(?:https?:\/\/[\w.:[\]-]+\/void|[a-z][a-z\d+.-]*:\/\/auth)\/callback$/u
/** A locale that legacy clients put before the path. */
const locale = /^\/[a-z]{2}_[a-z]{2}(?=\/)/iu
/** RFC 7636 section 4.1. */
const anyVerifier = /^[\w.~-]{43,128}$/u

/** What the service of today redirects to: an application's own scheme, which no browser opens. */
export const currentCallback = 'owner://auth/callback'
/** What a registered application has registered, for whom the option does not say otherwise. Nobody answers there. */
export const registeredCallback = 'https://app.example.com/callback'

/** Whether this is the service of today (field notes, fourth edition). */
export function isCurrent({ service }: Pick<EmulatorSettings, 'service'>): boolean {
  return service === 'current'
}

/** Whether this is the official kind of service, for a registered application. */
export function isRegistered({ service }: Pick<EmulatorSettings, 'service'>): boolean {
  return service === 'registered'
}

export function isLenient({ strictness }: Pick<EmulatorSettings, 'strictness'>): boolean {
  return strictness === 'lenient'
}

/** Which derivations of the code challenge are taken: the option's, else today's, else the document's own, else both. */
export function acceptedEncoding(settings: StrictnessSettings): NonNullable<EmulatorSettings['codeChallengeEncoding']> {
  if (settings.codeChallengeEncoding !== undefined) return settings.codeChallengeEncoding
  if (isCurrent(settings) || isRegistered(settings)) return 'raw-digest'
  return isLenient(settings) ? 'either' : 'hex-digest'
}

export function isCodeVerifier(settings: StrictnessSettings, verifier: string): boolean {
  return (isLenient(settings) || isRegistered(settings) ? anyVerifier : documentVerifier).test(verifier)
}

/** Whether a hidden input came back with its value; legacy clients post it as the page's source has it, entities and all. */
export function isPostedBack(
  settings: StrictnessSettings,
  posted: string | null | undefined,
  value: string | undefined,
): boolean {
  return posted === value || (isLenient(settings) && value !== undefined && posted === encodeText(value))
}

/** Whether a `_csrf` is the passcode page's own; legacy clients send the login page's, or none. */
export function isPasscodeCsrf(
  settings: StrictnessSettings,
  posted: string | null | undefined,
  { csrf, loginCsrf, isUnnamed }: { readonly csrf: string; readonly loginCsrf: string; readonly isUnnamed: boolean },
): boolean {
  // A page that shows no _csrf leaves a client nothing else to send.
  const takesOthers = isLenient(settings) || isUnnamed
  if (takesOthers && (posted === null || posted === undefined)) return true
  return isPostedBack(settings, posted, csrf) || (takesOthers && isPostedBack(settings, posted, loginCsrf))
}

/** Whether any legacy client's own redirect URI is taken: unless the option names those that are. */
function takesLegacyCallbacks(settings: StrictnessSettings): boolean {
  return isLenient(settings) && settings.service === 'document' && settings.redirectUris === undefined
}

/** Whether codes may be sent there; `registered` are the option's, or its default. */
export function isRedirectUri(settings: StrictnessSettings, registered: readonly string[], uri: string): boolean {
  return registered.includes(uri) || (takesLegacyCallbacks(settings) && legacyCallback.test(uri))
}

/** The address without the locale that legacy clients put before it. */
export function withoutLocale(settings: StrictnessSettings, url: string): string {
  return isLenient(settings) ? url.replace(locale, '') : url
}

type Application = Pick<EmulatorSettings, 'service' | 'clientId' | 'clientSecret' | 'strictness'>

/** The document knows one client alone. */
export function clientIdOf(settings: Application): string {
  return isRegistered(settings) ? settings.clientId : 'ownerapi'
}

export function isClient(settings: Application, fields: Fields): boolean {
  if (fields.get('client_id') !== clientIdOf(settings)) return false
  // Strangers' applications leave the secret out of a refresh.
  const mayLeaveOut =
    isLenient(settings) && fields.get('grant_type') === 'refresh_token' && !fields.has('client_secret')
  return !isRegistered(settings) || mayLeaveOut || fields.get('client_secret') === settings.clientSecret
}
