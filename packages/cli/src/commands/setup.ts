/**
 * `owner-sso setup`: asks for what a first use needs, tries each answer, and writes the config file.
 */
import { CommandError, usageError } from '../failure/command-error.ts'
import { changeConfigFile } from '../settings/config-file.ts'
import { apiUrlOf, outboundProxyOf, requireAddresses, usableConnectionOf } from '../settings/configured-service.ts'
import { type Finding, findingLines, good, note, problem } from '../terminal/finding.ts'
import { reachAt } from '../doctor/reach-check.ts'
import { serviceThatAnswers } from '../doctor/service-look.ts'
import { environmentProxies } from '../doctor/settings-check.ts'
import { checkStore } from '../doctor/store-check.ts'
import { printNote } from '../terminal/output.ts'
import { askConsent, askText, canAsk } from '../terminal/prompts.ts'
import { isAccountName } from '../moving/found-tokens.ts'
import { refusePassword, type Settings } from '../settings/settings.ts'
import { listed } from '../settings/setting-table.ts'
import { storeAt } from '../stores/store-kinds.ts'
import { configFile } from '../machine/folders.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'setup',
  summary: 'ask for the settings, try them, write them down',
  description:
    'Asks for what a first use needs: the addresses of the SSO service and the owner API, other instances, the ' +
    'store and the account. Proposes what is set already, and tries each answer at once. Then it writes the config ' +
    'file; the former one stays beside it.',
  options: {},
  examples: [['owner-sso setup && owner-sso login', 'a first use']],
  async run({ settings }) {
    if (!canAsk(settings) || settings.json) {
      throw usageError(
        'setup asks questions, and there is nobody to answer them.',
        `Run it in a terminal, or write {"authUrl": "https://…"} into ${configFile}.`,
      )
    }
    printNote('Each answer is tried at once. Ctrl-C stops, and nothing is written before the last one.')
    const answers = await askForSettings(settings)
    // One that was left empty is no longer set. What is not asked for stays.
    const former = changeConfigFile((config) => ({ ...config, ...answers }))
    printNote(`Your settings are in ${configFile}.`)
    if (former !== undefined) printNote(`The former ones are in ${former}.`)
    printNote('Next, sign in: owner-sso login')
  },
})

async function askForSettings(given: Settings) {
  const proxy = await askProxy(given)
  const settings = { ...given, proxy: proxy === undefined ? undefined : answered(proxy) }
  const authUrl = await settled('Address of the SSO service', settings.authUrl?.value, {
    about: 'SSO service',
    requireUsable: (value) => requireAddresses(value),
    attempt: async (value) => (await reachAt('SSO service', value, usableConnectionOf(settings))).findings,
    isNeeded: true,
  })
  const service = await findService({ ...settings, authUrl: answered(authUrl ?? '') })
  const question = 'Other instances that it may send an account to, with spaces between them (empty: none)'
  const others = await settled(question, settings.regionalAuthUrls.value.join(' '), {
    about: 'other instance',
    requireUsable: (value) => requireAddresses(authUrl ?? '', listed(value)),
    attempt: async (value) =>
      (await Promise.all(listed(value).map((url) => reached('other instance', url, settings)))).flat(),
  })
  const apiUrl = await settled('Address of the owner API (empty: none)', settings.apiUrl?.value, {
    about: 'owner API',
    requireUsable: (value) => apiUrlOf({ ...settings, apiUrl: answered(value) }),
    attempt: (value) => reached('owner API', value, settings),
  })
  const store = await settled('Where tokens live (owner-sso --help lists the kinds)', settings.store.value, {
    about: 'store',
    requireUsable(value) {
      refusePassword(value, 'The address')
      storeAt(value)
    },
    attempt: (value) => checkStore({ ...settings, store: answered(value) }),
    isNeeded: true,
  })
  const account = await settled('E-mail of the account (empty: ask at each sign-in)', settings.account?.value, {
    about: 'account',
    requireUsable(value) {
      if (!isAccountName(value)) throw usageError('This is no e-mail.', 'Correct it, or leave it empty.')
    },
  })
  const isDefault = settings.store.from === 'default' && store === settings.store.value
  const regionalAuthUrls = others === undefined ? undefined : listed(others)
  return { proxy, authUrl, service, regionalAuthUrls, apiUrl, store: isDefault ? undefined : store, account }
}

const answered = <Value>(value: Value) => ({ value, from: 'your answer' })

/** Asked where something says that this network has one. Whether it lets anything through shows with the next answer. */
async function askProxy(settings: Settings): Promise<string | undefined> {
  if (settings.proxy === undefined && environmentProxies(process.env).length === 0) return undefined
  return settled('Outbound proxy to go through (empty: none)', settings.proxy?.value, {
    about: 'outbound proxy',
    requireUsable: (value) => outboundProxyOf({ ...settings, proxy: answered(value) }),
  })
}

/** Nothing that can be found out is asked. What is set stays where the service tells nothing. */
async function findService(settings: Settings): Promise<string | undefined> {
  // The same login page is that of others as well.
  if (settings.service?.value === 'registered') return 'registered'
  const found = await serviceThatAnswers(settings)
  const finding =
    found === undefined
      ? note('kind of service', 'Its login page shows no form now.', 'owner-sso doctor looks again.')
      : good('kind of service', found)
  printNote(...findingLines(finding))
  if (found === undefined) return settings.service?.value
  return found === 'document' ? undefined : found
}

/** Whether an address answers. The clock is told of once, by the SSO service's. */
async function reached(about: string, url: string, settings: Settings): Promise<Finding[]> {
  const { findings } = await reachAt(about, url, usableConnectionOf(settings))
  return findings.filter((finding) => finding.about !== 'clock')
}

interface Trial {
  readonly about: string
  readonly requireUsable: (value: string) => unknown
  readonly attempt?: (value: string) => Promise<Finding[]>
  readonly isNeeded?: true
}

/** Asks until the answer can be used, and does what it should or is kept all the same. Undefined for an empty one. */
async function settled(
  message: string,
  proposal: string | undefined,
  { about, requireUsable, attempt, isNeeded }: Trial,
): Promise<string | undefined> {
  for (let proposed = proposal ?? ''; ;) {
    const value = await askText(message, { proposal: proposed, ...(!isNeeded && { validate: () => undefined }) })
    if (value === '') return undefined
    proposed = value
    try {
      requireUsable(value)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      printNote(...findingLines(problem(about, error.message, error.next)))
      continue
    }
    const findings = (await attempt?.(value)) ?? []
    printNote(...findings.flatMap(findingLines))
    if (findings.every(({ level }) => level !== 'problem')) return value
    if (await askConsent('Keep it all the same?')) return value
  }
}
