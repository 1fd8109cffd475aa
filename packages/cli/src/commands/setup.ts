/**
 * `owner-sso setup`: asks for what a first use needs, tries each answer, and writes the config file.
 */
import { CommandError, usageError } from '../failure/command-error.ts'
import { changeConfigFile, type ConfigFile } from '../settings/config-file.ts'
import {
  addressesAlone,
  apiUrlOf,
  outboundProxyOf,
  serviceOf,
  usableConnectionOf,
} from '../settings/configured-service.ts'
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
    const former = changeConfigFile((config) => ({
      ...answers,
      ...Object.fromEntries(Object.entries(config).filter(([name]) => !asked.has(name))),
    }))
    printNote(`Your settings are in ${configFile}.`)
    if (former !== undefined) printNote(`The former ones are in ${former}.`)
    printNote('Next, sign in: owner-sso login')
  },
})

/** The settings that `setup` asks for: one that was left empty is no longer set. All others stay. */
const asked = new Set(['proxy', 'authUrl', 'service', 'regionalAuthUrls', 'apiUrl', 'store', 'account'])

/** The settings that are asked for. */
type Answers = Pick<ConfigFile, 'proxy' | 'authUrl' | 'service' | 'regionalAuthUrls' | 'apiUrl' | 'store' | 'account'>

/** @param given - what is set so far: it is proposed */
async function askForSettings(given: Settings): Promise<Answers> {
  const proxy = await askProxy(given)
  const settings = { ...given, proxy: proxy === '' ? undefined : answered(proxy) }
  const authUrl = await askService(settings)
  const service = await findService({ ...settings, authUrl: answered(authUrl) })
  const regionalAuthUrls = await askOtherInstances(settings, authUrl)
  const apiUrl = await askOwnerApi(settings)
  const store = await askStore(settings)
  const account = await askAccount(settings)
  return {
    ...(proxy !== '' && { proxy }),
    ...(authUrl !== '' && { authUrl }),
    ...(service !== undefined && { service }),
    ...(regionalAuthUrls.length > 0 && { regionalAuthUrls }),
    ...(apiUrl !== '' && { apiUrl }),
    ...(settings.store.from === 'default' && store === settings.store.value ? {} : { store }),
    ...(account !== '' && { account }),
  }
}

const answered = <Value>(value: Value) => ({ value, from: 'your answer' })

/** Asked where something says that this network has one. Whether it lets anything through shows with the next answer. */
async function askProxy(settings: Settings): Promise<string> {
  if (settings.proxy === undefined && environmentProxies(process.env).length === 0) return ''
  return settled('Outbound proxy to go through (empty: none)', settings.proxy?.value, {
    about: 'outbound proxy',
    requireUsable: (value) => outboundProxyOf({ ...settings, proxy: answered(value) }),
    attempt: async () => [],
    optional: true,
  })
}

function askService(settings: Settings): Promise<string> {
  return settled('Address of the SSO service', settings.authUrl?.value, {
    about: 'SSO service',
    requireUsable: (value) => requireInstances(settings, value),
    attempt: async (value) => (await reachAt('SSO service', value, usableConnectionOf(settings))).findings,
  })
}

/** Nothing that can be found out is asked. What is set stays where the service tells nothing. */
async function findService(settings: Settings): Promise<string | undefined> {
  // The same login page is that of others as well.
  if (settings.service?.value === 'registered') return 'registered'
  const found = await serviceThatAnswers(settings)
  if (found === undefined) {
    printNote(
      ...findingLines(note('kind of service', 'Its login page shows no form now.', 'owner-sso doctor looks again.')),
    )
    return settings.service?.value
  }
  printNote(...findingLines(good('kind of service', found)))
  return found === 'document' ? undefined : found
}

async function askOtherInstances(settings: Settings, authUrl: string): Promise<string[]> {
  const question = 'Other instances that it may send an account to, with spaces between them (empty: none)'
  const answer = await settled(question, settings.regionalAuthUrls.value.join(' '), {
    about: 'other instance',
    requireUsable: (value) => requireInstances(settings, authUrl, listed(value)),
    attempt: async (value) =>
      (await Promise.all(listed(value).map((url) => reached('other instance', url, settings)))).flat(),
    optional: true,
  })
  return listed(answer)
}

function askOwnerApi(settings: Settings): Promise<string> {
  return settled('Address of the owner API (empty: none)', settings.apiUrl?.value, {
    about: 'owner API',
    requireUsable: (value) => apiUrlOf({ ...settings, apiUrl: answered(value) }),
    attempt: (value) => reached('owner API', value, settings),
    optional: true,
  })
}

function askStore(settings: Settings): Promise<string> {
  return settled('Where tokens live (owner-sso stores lists the kinds)', settings.store.value, {
    about: 'store',
    requireUsable(value) {
      refusePassword(value, 'The address')
      storeAt(value)
    },
    attempt: (value) => checkStore({ ...settings, store: answered(value) }),
  })
}

function askAccount(settings: Settings): Promise<string> {
  return settled('E-mail of the account (empty: ask at each sign-in)', settings.account?.value, {
    about: 'account',
    requireUsable(value) {
      if (!isAccountName(value)) throw usageError('This is no e-mail.', 'Correct it, or leave it empty.')
    },
    attempt: async () => [],
    optional: true,
  })
}

/** Of these addresses alone: what else is set may be wrong for itself. @throws CommandError */
function requireInstances(settings: Settings, authUrl: string, regionalAuthUrls: readonly string[] = []): void {
  const addresses = { authUrl: answered(authUrl), regionalAuthUrls: answered(regionalAuthUrls) }
  serviceOf({ ...addressesAlone(settings), ...addresses })
}

/** Whether an address answers. The clock is told of once, by the SSO service's. */
async function reached(about: string, url: string, settings: Settings): Promise<Finding[]> {
  const { findings } = await reachAt(about, url, usableConnectionOf(settings))
  return findings.filter((finding) => finding.about !== 'clock')
}

interface Trial {
  readonly about: string
  /** @throws CommandError for an answer that no command could use */
  readonly requireUsable: (value: string) => unknown
  /** What is found where it is used. */
  readonly attempt: (value: string) => Promise<Finding[]>
  readonly optional?: boolean
}

/** Asks until the answer can be used, and does what it should or is kept all the same. */
async function settled(
  message: string,
  proposal: string | undefined,
  { about, requireUsable, attempt, optional = false }: Trial,
): Promise<string> {
  for (let proposed = proposal ?? ''; ;) {
    const value = await askText(message, { proposal: proposed, ...(optional && { validate: () => undefined }) })
    if (value === '') return ''
    proposed = value
    try {
      requireUsable(value)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      printNote(...findingLines(problem(about, error.message, error.next)))
      continue
    }
    const findings = await attempt(value)
    printNote(...findings.flatMap(findingLines))
    if (findings.every(({ level }) => level !== 'problem')) return value
    if (await askConsent('Keep it all the same?')) return value
  }
}
