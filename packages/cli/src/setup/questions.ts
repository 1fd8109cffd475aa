/**
 * What a first use needs, asked one after the other: each answer is tried at once, and can be corrected.
 */
import { mayCarrySecrets } from '@owner-sso/core'
import { CommandError } from '../command-line/command-error.ts'
import type { ConfigFile } from '../settings/config-file.ts'
import { apiUrlOf, serviceOf, usableTransportOf } from '../settings/configured-service.ts'
import { type Finding, findingLines, problem } from '../doctor/finding.ts'
import { checkReach } from '../doctor/reach-check.ts'
import { checkStore } from '../doctor/store-check.ts'
import { printNote } from '../terminal/output.ts'
import { askConsent, askText } from '../terminal/prompts.ts'
import { listed, refusePassword, type Settings } from '../settings/settings.ts'

/** The settings that are asked for. */
export type Answers = Pick<ConfigFile, 'authUrl' | 'regionalAuthUrls' | 'apiUrl' | 'store' | 'account'>

/** @param settings - what is set so far: it is proposed */
export async function askForSettings(settings: Settings): Promise<Answers> {
  const authUrl = await askService(settings)
  const regionalAuthUrls = await askOtherInstances(settings)
  const apiUrl = await askOwnerApi(settings)
  const store = await askStore(settings)
  const account = await askAccount(settings)
  return {
    ...(authUrl !== '' && { authUrl }),
    ...(regionalAuthUrls.length > 0 && { regionalAuthUrls }),
    ...(apiUrl !== '' && { apiUrl }),
    ...(settings.store.from === 'default' && store === settings.store.value ? {} : { store }),
    ...(account !== '' && { account }),
  }
}

const answered = (value: string) => ({ value, from: 'your answer' })

function askService(settings: Settings): Promise<string> {
  return settled('Address of the SSO service', settings.authUrl?.value, (value) =>
    checked(
      'SSO service',
      () => serviceOf({ ...settings, authUrl: answered(value) }),
      () => checkReach('SSO service', value, usableTransportOf(settings)),
    ),
  )
}

async function askOtherInstances(settings: Settings): Promise<string[]> {
  const question = 'Other instances that it may send an account to, with spaces between them (empty: none)'
  const attempt = async (value: string): Promise<Finding[]> => {
    const found = listed(value).map((url) => reached('other instance', () => requireSafe(url), url, settings))
    return (await Promise.all(found)).flat()
  }
  return listed(await settled(question, settings.regionalAuthUrls.value.join(' '), attempt, { optional: true }))
}

function askOwnerApi(settings: Settings): Promise<string> {
  const attempt = (value: string): Promise<Finding[]> =>
    reached('owner API', () => apiUrlOf({ ...settings, apiUrl: answered(value) }), value, settings)
  return settled('Address of the owner API (empty: none)', settings.apiUrl?.value, attempt, { optional: true })
}

function askStore(settings: Settings): Promise<string> {
  return settled('Where tokens live (owner-sso stores lists the kinds)', settings.store.value, (value) =>
    checked(
      'store',
      () => refusePassword(value, 'The address'),
      () => checkStore({ ...settings, store: answered(value) }),
    ),
  )
}

function askAccount(settings: Settings): Promise<string> {
  const question = 'E-mail of the account (empty: ask at each sign-in)'
  return settled(question, settings.account?.value, accountProblems, { optional: true })
}

async function accountProblems(account: string): Promise<Finding[]> {
  if (account.includes('@') || account.startsWith('sub:')) return []
  return [problem('account', 'An e-mail has an @ in it.', 'Correct it, or leave it empty.')]
}

/** Whether an address answers. The clock is told of once, by the SSO service's. */
function reached(about: string, check: () => unknown, url: string, settings: Settings): Promise<Finding[]> {
  return checked(about, check, async () => {
    const found = await checkReach(about, url, usableTransportOf(settings))
    return found.filter((finding) => finding.about !== 'clock')
  })
}

/** Asks until the answer does what it should, or the person keeps it all the same. */
async function settled(
  message: string,
  proposal: string | undefined,
  attempt: (value: string) => Promise<Finding[]>,
  { optional = false }: { readonly optional?: boolean } = {},
): Promise<string> {
  for (let proposed = proposal ?? ''; ;) {
    const value = await askText(message, { proposal: proposed, ...(optional && { validate: () => undefined }) })
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
