/**
 * `owner-sso doctor`: what is set, readable and reachable, and how to mend what is not.
 */
import type { Call } from '../call.ts'
import { exitCodes } from '../command-error.ts'
import { type Finding, findingLines, summary } from '../doctor/finding.ts'
import { checkReach } from '../doctor/reach-check.ts'
import { checkSettings } from '../doctor/settings-check.ts'
import { checkStore } from '../doctor/store-check.ts'
import { printData, printJson } from '../output.ts'
import { usableTransportOf } from '../configured-service.ts'
import { progressBar } from '../progress-bar.ts'
import type { Settings } from '../settings.ts'

export async function run({ settings, options }: Call): Promise<number> {
  const live = options.live === true ? await import('../doctor/live-check.ts') : undefined
  await live?.askForLive(settings, options.yes === true)
  const { findings, isBlocked } = await look(settings)
  if (live && !isBlocked) findings.push(...(await live.checkLive(settings)))
  if (settings.json) await printJson({ findings })
  else await printData(...findings.flatMap(findingLines), '', summary(findings))
  return findings.find(({ level }) => level === 'problem')?.exitCode ?? exitCodes.ok
}

/** Everything that needs no consent, with a bar while it takes its time. */
async function look(settings: Settings): Promise<{ readonly findings: Finding[]; readonly isBlocked: boolean }> {
  const bar = progressBar('Looking', 3)
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
  const [service, api] = [
    isBlocked ? [] : await reach('SSO service', authUrl?.value),
    await reach('owner API', apiUrl?.value),
  ]
  return [...service, ...api.filter(({ about }) => about !== 'clock')]
}
