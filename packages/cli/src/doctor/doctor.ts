/**
 * `owner-sso doctor`: what is set, readable and reachable, and how to mend what is not.
 */
import type { Call } from '../command-line/command.ts'
import type { doctor } from '../commands/doctor.ts'
import { exitCodes } from '../command-line/command-error.ts'
import { type Finding, findingLines, summary } from './finding.ts'
import { checkReach } from './reach-check.ts'
import { checkSettings } from './settings-check.ts'
import { checkStore } from './store-check.ts'
import { printData, printJson } from '../terminal/output.ts'
import { tokenUrlsOf, usableTransportOf } from '../settings/configured-service.ts'
import { progressBar } from '../terminal/progress-bar.ts'
import type { Settings } from '../settings/settings.ts'

export async function run({ settings, options }: Call<typeof doctor>): Promise<number> {
  const live = options.live === true ? await import('./live-check.ts') : undefined
  await live?.askForLive(settings, options.yes === true)
  const { findings, isBlocked } = await look(settings)
  if (live && !isBlocked) findings.push(...(await live.checkLive(settings)))
  if (settings.json) await printJson({ findings })
  else await printData(...findings.flatMap(findingLines), '', summary(findings))
  return findings.find(({ level }) => level === 'problem')?.exitCode ?? exitCodes.ok
}

/** Everything that needs no consent, with a bar while it takes its time. */
async function look(settings: Settings): Promise<{ readonly findings: Finding[]; readonly isBlocked: boolean }> {
  const bar = progressBar('Looking', 3 + tokenUrlsOf(settings).length)
  try {
    const store = await checkStore(settings)
    bar.advance()
    const isBlocked = store.some(({ exitCode }) => exitCode === exitCodes.firewall)
    const network = await checkNetwork(settings, isBlocked, bar.advance)
    return { findings: [...checkSettings(settings, process.env), ...store, ...network], isBlocked }
  } finally {
    bar.end()
  }
}

/** @param isBlocked - by the SSO service's firewall: a look at the service would be one more request that prolongs it */
async function checkNetwork(settings: Settings, isBlocked: boolean, onOne: () => void): Promise<Finding[]> {
  const { authUrl, apiUrl } = settings
  const transport = usableTransportOf(settings)
  const reach = async (about: string, url: string | undefined): Promise<Finding[]> => {
    const isAddress = url !== undefined && URL.canParse(url) && /^https?:/u.test(url)
    const found = isAddress ? await checkReach(about, url, transport) : []
    onOne()
    return found
  }
  const service = isBlocked ? [] : await reach('SSO service', authUrl?.value)
  const others: Finding[] = []
  for (const url of isBlocked ? [] : tokenUrlsOf(settings)) others.push(...(await reach('token endpoint', url)))
  others.push(...(await reach('owner API', apiUrl?.value)))
  return [...service, ...others.filter(({ about }) => about !== 'clock')]
}
