/**
 * `owner-sso doctor`: what is set, readable and reachable, and how to mend what is not.
 */
import type { Call } from '../manual/command.ts'
import type { doctor } from '../manual/manual.ts'
import { exitCodes, usageError } from '../failure/command-error.ts'
import { type Finding, findingLines, summary } from '../terminal/finding.ts'
import { reachAt } from './reach-check.ts'
import { checkService } from './service-look.ts'
import { checkSettings } from './settings-check.ts'
import { checkStore } from './store-check.ts'
import { printData, printJson } from '../terminal/output.ts'
import { tokenUrlsOf, usableConnectionOf } from '../settings/configured-service.ts'
import { progressBar } from '../terminal/progress-bar.ts'
import type { Settings } from '../settings/settings.ts'

export async function run({ settings, options }: Call<typeof doctor>): Promise<number> {
  const finds = options.findTransport === true
  if (finds && options.live !== true) throw usageError('--find-transport makes refreshes.', 'Give --live with it.')
  const live = options.live === true ? await import('./live-check.ts') : undefined
  await live?.askForLive(settings, options.yes === true, finds)
  const { findings, isBlocked } = await look(settings)
  if (live && !isBlocked) {
    const found = finds ? (await import('./transport-search.ts')).findTransport(settings) : live.checkLive(settings)
    findings.push(...(await found))
  }
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
    // A look at a service that blocks this machine would be one more request that prolongs the block; others may ask it.
    const isLeft = isBlocked || settings.refresh.value === 'elsewhere'
    const authUrl = settings.authUrl?.value
    const service = isLeft || !isAddress(authUrl) ? [] : await checkService(settings, authUrl)
    bar.advance()
    const others: Finding[] = []
    for (const url of isLeft ? [] : tokenUrlsOf(settings)) {
      others.push(...(await reach('token endpoint', url, settings)))
      bar.advance()
    }
    others.push(...(await reach('owner API', settings.apiUrl?.value, settings)))
    // The clock, and a problem of the outbound proxy, are told once.
    const isTold = ({ about, text }: Finding): boolean =>
      about === 'clock' || service.some((told) => told.about === about && told.text === text)
    const rest = others.filter((finding) => !isTold(finding))
    return { findings: [...checkSettings(settings, process.env), ...store, ...service, ...rest], isBlocked }
  } finally {
    bar.end()
  }
}

async function reach(about: string, url: string | undefined, settings: Settings): Promise<Finding[]> {
  return isAddress(url) ? (await reachAt(about, url, usableConnectionOf(settings))).findings : []
}

function isAddress(url: string | undefined): url is string {
  return url !== undefined && URL.canParse(url) && /^https?:/u.test(url)
}
