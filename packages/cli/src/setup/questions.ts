/**
 * What a first use needs, asked one after the other: each answer is tried at once, and can be corrected.
 */
import { mayCarrySecrets } from '@owner-sso/core'
import { CommandError } from '../command-error.ts'
import type { ConfigFile } from '../config-file.ts'
import { apiUrlOf, serviceOf, usableTransportOf } from '../configured-service.ts'
import { type Finding, findingLines, problem } from '../doctor/finding.ts'
import { checkReach } from '../doctor/reach-check.ts'
import { checkStore } from '../doctor/store-check.ts'
import { printNote } from '../output.ts'
import { askConsent, askProposed } from '../prompts.ts'
import { refusePassword, type Settings } from '../settings.ts'

/** The settings that are asked for. */
export type Answers = Pick<ConfigFile, 'authUrl' | 'regionalAuthUrls' | 'apiUrl' | 'store' | 'account'>

/** @param settings - what is set so far: it is proposed */
export async function askForSettings(settings: Settings): Promise<Answers> {
  const transport = usableTransportOf(settings)
  const reach = (about: string, check: () => unknown, url: string): Promise<Finding[]> =>
    checked(about, check, async () => {
      const found = await checkReach(about, url, transport)
      // The time of one of them is enough.
      return about === 'SSO service' ? found : found.filter((finding) => finding.about !== 'clock')
    })
  const authUrl = await settled('Address of the SSO service', settings.authUrl?.value, (value) =>
    reach('SSO service', () => serviceOf({ ...settings, authUrl: { value, from: 'your answer' } }), value),
  )
  const regional = await settled(
    'Other instances that it may send an account to, with spaces between them (empty: none)',
    settings.regionalAuthUrls.value.join(' '),
    async (value) =>
      (await Promise.all(listed(value).map((url) => reach('other instance', () => requireSafe(url), url)))).flat(),
    { optional: true },
  )
  const apiUrl = await settled(
    'Address of the owner API (empty: none)',
    settings.apiUrl?.value,
    (value) => reach('owner API', () => apiUrlOf({ ...settings, apiUrl: { value, from: 'your answer' } }), value),
    { optional: true },
  )
  const store = await settled('Where tokens live (owner-sso stores lists the kinds)', settings.store.value, (value) =>
    checked(
      'store',
      () => refusePassword(value, 'The address'),
      () => checkStore({ ...settings, store: { value, from: 'your answer' } }),
    ),
  )
  const account = await settled(
    'E-mail of the account (empty: ask at each sign-in)',
    settings.account?.value,
    async (value) =>
      value.includes('@') || value.startsWith('sub:')
        ? []
        : [problem('account', 'An e-mail has an @ in it.', 'Correct it, or leave it empty.')],
    { optional: true },
  )
  return {
    ...(authUrl !== '' && { authUrl }),
    ...(regional !== '' && { regionalAuthUrls: listed(regional) }),
    ...(apiUrl !== '' && { apiUrl }),
    ...(settings.store.from === 'default' && store === settings.store.value ? {} : { store }),
    ...(account !== '' && { account }),
  }
}

/** Asks until the answer does what it should, or the person keeps it all the same. */
async function settled(
  message: string,
  proposal: string | undefined,
  attempt: (value: string) => Promise<Finding[]>,
  { optional = false }: { readonly optional?: boolean } = {},
): Promise<string> {
  for (let proposed = proposal ?? ''; ;) {
    const value = await askProposed(message, proposed, optional)
    if (value === '') return ''
    const findings = await attempt(value)
    printNote(...findings.flatMap(findingLines))
    if (findings.every(({ level }) => level !== 'problem')) return value
    if (await askConsent('Keep it all the same?')) return value
    proposed = value
  }
}

/** What is wrong with an answer in itself; where nothing is, what the trial finds. */
async function checked(about: string, check: () => unknown, attempt: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    check()
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof TypeError)) throw error
    return [problem(about, error.message, error instanceof CommandError ? error.next : 'Correct it.')]
  }
  return attempt()
}

/** @throws TypeError */
function requireSafe(url: string): void {
  if (URL.canParse(url) && mayCarrySecrets(new URL(url))) return
  throw new TypeError(`${url} is not https, nor http on a loopback host.`)
}

function listed(text: string): string[] {
  return text.split(/[\s,]+/u).filter(Boolean)
}
