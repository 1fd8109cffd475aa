/**
 * `owner-sso doctor`: what is set, readable and reachable, and how to mend what is not.
 */
import { transportOf as completeTransport, type Transport } from '@owner-sso/core'
import type { Call } from '../call.ts'
import { exitCodes } from '../command-error.ts'
import type { Finding } from '../doctor/finding.ts'
import { checkReach } from '../doctor/reach-check.ts'
import { checkSettings } from '../doctor/settings-check.ts'
import { checkStore } from '../doctor/store-check.ts'
import { type Line, printData, printJson } from '../output.ts'
import { transportOf } from '../configured-service.ts'
import type { Settings } from '../settings.ts'

export async function run({ settings, options }: Call): Promise<number> {
  const live = options.live === true ? await import('../doctor/live-check.ts') : undefined
  await live?.askForLive(settings, options.yes === true)
  const store = await checkStore(settings)
  const isBlocked = store.some(({ exitCode }) => exitCode === exitCodes.firewall)
  const findings = [...checkSettings(settings, process.env), ...store, ...(await checkNetwork(settings, isBlocked))]
  if (live && !isBlocked) findings.push(...(await live.checkLive(settings)))
  if (settings.json) await printJson({ findings })
  else await printData(...findings.flatMap(lines), '', summary(findings))
  return findings.find(({ level }) => level === 'problem')?.exitCode ?? exitCodes.ok
}

/** @param isBlocked - by the SSO service's firewall: a look at the service would be one more request that prolongs it */
async function checkNetwork(settings: Settings, isBlocked: boolean): Promise<Finding[]> {
  const { authUrl, apiUrl } = settings
  const transport = usableTransport(settings)
  const reach = async (about: string, url: string | undefined): Promise<Finding[]> =>
    url !== undefined && URL.canParse(url) && /^https?:/u.test(url) ? checkReach(about, url, transport) : []
  const [service, api] = [
    isBlocked ? [] : await reach('SSO service', authUrl?.value),
    await reach('owner API', apiUrl?.value),
  ]
  return [...service, ...api.filter(({ about }) => about !== 'clock')]
}

/** The document's, where the settings' own check has said what is wrong with them. */
function usableTransport(settings: Settings): Transport {
  try {
    return completeTransport(transportOf(settings))
  } catch {
    return completeTransport({})
  }
}

const marks = { good: ['✔', 'green'], note: ['•', 'yellow'], problem: ['✖', 'red'] } as const

function lines({ about, level, text, fix }: Finding): Line[] {
  const [mark, format] = marks[level]
  const first: Line = [{ format, text: mark }, ` ${about.padEnd(16)}${text}`]
  return fix === undefined ? [first] : [first, `${' '.repeat(18)}→ ${fix}`]
}

function summary(findings: readonly Finding[]): string {
  const problems = findings.filter(({ level }) => level === 'problem').length
  if (problems === 0) return 'No problem was found.'
  return `${problems} ${problems === 1 ? 'problem' : 'problems'}: mend the first one, then look again.`
}
