/**
 * Which kind of service this is: it shows its login form to those who name a redirect address that it knows. A look sends no account and
 * no credential.
 */
import { type ServiceName, serviceNames } from '@owner-sso/core'
import { serviceOf, usableConnectionOf, usableServiceNameOf } from '../settings/configured-service.ts'
import type { Settings } from '../settings/settings.ts'
import { type Finding, good, note, problem } from '../terminal/finding.ts'
import { type Page, pageAt, reachAt } from './reach-check.ts'

/** Whether the service can be reached, and its login page answers to the kind that is set: one request, and one for each other kind. */
export async function checkService(settings: Settings, authUrl: string): Promise<Finding[]> {
  const about = 'kind of service'
  const saved = usableServiceNameOf(settings)
  const how = usableConnectionOf(settings)
  const { findings, page } = await reachAt('SSO service', authUrl, how, lookAt(settings, saved))
  if (page === undefined || findings.some(({ level }) => level === 'problem')) return findings
  if (showsForm(page)) {
    const { value, from } = settings.service ?? {}
    const origin = value === saved && from !== undefined ? from : 'default'
    return [...findings, good(about, `${saved} (${origin}): its login page answers`)]
  }
  const others = serviceNames.filter((name) => name !== saved)
  const found = await serviceThatAnswers(settings, others)
  if (found === undefined)
    return [...findings, note(about, `The login page answers to none of ${serviceNames.join(', ')}.`, unknownNext)]
  const next = `It answers to ${found}: run owner-sso setup, or set OWNER_SSO_SERVICE=${found}.`
  return [...findings, problem(about, `The login page does not answer to ${saved}.`, next)]
}

const unknownNext =
  'If the service knows another redirect address, set OWNER_SSO_REDIRECT_URI. A page with a captcha shows no form either.'

/** The first of these kinds whose login form comes: one request for each that is tried. */
export async function serviceThatAnswers(
  settings: Settings,
  names: readonly ServiceName[] = serviceNames,
): Promise<ServiceName | undefined> {
  for (const name of names) {
    const url = lookAt(settings, name)
    const how = usableConnectionOf({ ...settings, service: { value: name, from: '' } })
    const page = url === undefined ? undefined : await pageAt(url, how).catch(() => undefined)
    if (page !== undefined && showsForm(page)) return name
  }
  return undefined
}

/** The address of the login page, without an account; nothing where the settings can't be used, which is told elsewhere. */
function lookAt(settings: Settings, name: ServiceName): string | undefined {
  const others = { clientId: undefined, clientSecretFile: undefined, audience: undefined, scope: undefined }
  const service = { value: name, from: '' }
  try {
    return serviceOf({ ...settings, ...(name !== 'registered' && others), service }).createAuthorizationUrl().url
  } catch {
    return undefined
  }
}

function showsForm({ status, text }: Page): boolean {
  return status === 200 && /\bname\s*=\s*["']?(?:identity|credential)\b/iu.test(text)
}
