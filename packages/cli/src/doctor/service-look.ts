/**
 * Which kind of service this is: it shows its login form to those who name a redirect address that it knows. A look sends no account and
 * no credential.
 */
import { createSso, type ServiceName, serviceNames, systemCode } from '@owner-sso/core'
import { usableConnectionOf, usableServiceNameOf } from '../settings/configured-service.ts'
import type { Settings } from '../settings/settings.ts'
import { type Finding, good, note, problem } from '../terminal/finding.ts'
import { pageAt } from './reach-check.ts'

/** Whether the login page answers to the kind that is set; where it does not, which one it answers to. */
export async function checkService(settings: Settings): Promise<Finding[]> {
  const about = 'kind of service'
  const saved = usableServiceNameOf(settings)
  const found = await serviceThatAnswers(settings, [saved, ...serviceNames.filter((name) => name !== saved)])
  if (found === saved) return [good(about, `${saved} (${settings.service?.from ?? 'default'}): its login page answers`)]
  if (found === undefined) {
    return [note(about, `The login page answers to none of ${serviceNames.join(', ')}.`, unknownNext)]
  }
  const next = `It answers to ${found}: run owner-sso setup, or set OWNER_SSO_SERVICE=${found}.`
  return [problem(about, `The login page does not answer to ${saved}.`, next)]
}

const unknownNext =
  'If the service knows another redirect address, set OWNER_SSO_REDIRECT_URI. A page with a captcha shows no form either.'

/**
 * The first kind whose login form comes: one request for each that is tried.
 *
 * @param names - in this order
 */
export async function serviceThatAnswers(
  settings: Settings,
  names: readonly ServiceName[] = serviceNames,
): Promise<ServiceName | undefined> {
  for (const name of names) if (await isAnswered(settings, name)) return name
  return undefined
}

async function isAnswered(settings: Settings, service: ServiceName): Promise<boolean> {
  const { authUrl, redirectUri } = settings
  if (authUrl === undefined) return false
  const own = { authUrl: authUrl.value, service, ...(redirectUri && { redirectUri: redirectUri.value }) }
  try {
    const { url } = createSso(own).createAuthorizationUrl()
    const how = usableConnectionOf({ ...settings, service: { value: service, from: '' } })
    const { status, text } = await pageAt(url, how)
    return status === 200 && /\bname\s*=\s*["']?(?:identity|credential)\b/iu.test(text)
  } catch (error) {
    if (error instanceof TypeError || systemCode(error) !== undefined) return false
    throw error
  }
}
