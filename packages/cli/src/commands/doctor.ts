/**
 * `owner-sso doctor`: what is set, readable and reachable, and how to mend what is not.
 */
import { exitCodes, usageError } from '../failure/command-error.ts'
import { type Finding, findingLines } from '../terminal/finding.ts'
import { reachAt } from '../doctor/reach-check.ts'
import { checkService } from '../doctor/service-look.ts'
import { checkSettings } from '../doctor/settings-check.ts'
import { checkStore } from '../doctor/store-check.ts'
import { printData, printJson } from '../terminal/output.ts'
import { counted } from '../terminal/wording.ts'
import { tokenUrlsOf, usableConnectionOf } from '../settings/configured-service.ts'
import type { Settings } from '../settings/settings.ts'
import { flag } from '../options/option.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'doctor',
  summary: 'find problems, and say how to fix them',
  description:
    'Checks the settings, the store and its file modes, whether the SSO service and the owner API can be reached, ' +
    'the TLS version, and this machine’s clock. Makes no login: one request to each of the two. --live also makes ' +
    'one refresh and one call of the owner API, once you agree: it shows whether a token that is minted here is ' +
    'accepted, and over which transport. --find-transport tries one transport after the other, with one refresh each, ' +
    'until the owner API accepts what it mints, and keeps that one in the config file.',
  options: {
    live: flag('make one refresh and one call of the owner API, after asking'),
    findTransport: flag('with --live: try the transports until the owner API accepts a token'),
    yes: flag('agree to --live'),
  },
  examinesSettings: true,
  examples: [
    ['owner-sso doctor --json', 'for a bug report; there are no secrets in it'],
    ['owner-sso doctor --live --account ann@example.com', 'if the owner API answers 403'],
  ],
  async run({ settings, options }) {
    const finds = options.findTransport === true
    if (finds && options.live !== true) throw usageError('--find-transport makes refreshes.', 'Give --live with it.')
    const live = options.live === true ? await import('../doctor/live-check.ts') : undefined
    await live?.askForLive(settings, options.yes === true, finds)
    const { findings, isBlocked } = await look(settings)
    if (live && !isBlocked) findings.push(...(await (finds ? live.findTransport : live.checkLive)(settings)))
    if (settings.json) await printJson({ findings })
    const problems = findings.filter(({ level }) => level === 'problem')
    const count = `${counted(problems.length, 'problem')}: mend the first one, then look again.`
    const summary = problems.length === 0 ? 'No problem was found.' : count
    if (!settings.json) await printData(...findings.flatMap(findingLines), '', summary)
    return problems[0]?.exitCode ?? exitCodes.ok
  },
})

async function look(settings: Settings): Promise<{ readonly findings: Finding[]; readonly isBlocked: boolean }> {
  const store = await checkStore(settings)
  const isBlocked = store.some(({ exitCode }) => exitCode === exitCodes.firewall)
  // A look at a service that blocks this machine would be one more request that prolongs the block; others may ask it.
  const isLeft = isBlocked || settings.refresh.value === 'elsewhere'
  const authUrl = settings.authUrl?.value
  const found = isLeft || !isAddress(authUrl) ? [] : await checkService(settings, authUrl)
  for (const url of isLeft ? [] : tokenUrlsOf(settings)) found.push(...(await reach('token endpoint', url, settings)))
  found.push(...(await reach('owner API', settings.apiUrl?.value, settings)))
  const first = found.findIndex(({ about }) => about === 'clock')
  const told = found.filter(({ about }, index) => about !== 'clock' || index === first)
  return { findings: [...checkSettings(settings, process.env), ...store, ...told], isBlocked }
}

async function reach(about: string, url: string | undefined, settings: Settings): Promise<Finding[]> {
  return isAddress(url) ? (await reachAt(about, url, usableConnectionOf(settings))).findings : []
}

function isAddress(url: string | undefined): url is string {
  return url !== undefined && URL.canParse(url) && /^https?:/u.test(url)
}
