/**
 * What is set, where it came from, and whether it makes sense.
 */
import { existsSync } from 'node:fs'
import { secretFromText } from '@owner-sso/core'
import { apiUrlOf, requestBudgetOf, serviceOf } from '../settings/configured-service.ts'
import { CommandError, messageOf } from '../failure/command-error.ts'
import { openToOthers, readConfigFile } from '../settings/config-file.ts'
import { configFile } from '../machine/folders.ts'
import { settingRows, unknownVariables } from '../settings/setting-table.ts'
import type { Settings } from '../settings/settings.ts'
import { type Finding, good, note, problem } from '../terminal/finding.ts'

export function checkSettings(settings: Settings, env: NodeJS.ProcessEnv): Finding[] {
  const wrong = [
    ...checked(() => serviceOf(settings), problem),
    ...checked(() => apiUrlOf(settings), settings.apiUrl === undefined ? note : problem),
    ...checked(() => requestBudgetOf(settings), problem),
  ]
  // The store is looked at for itself, and what is wrong is told as that alone.
  const isTold = (name: string): boolean => name === 'store' || wrong.some(({ text }) => text.startsWith(`${name} `))
  return [
    good('Node', `${process.version} on ${process.platform}`),
    checkConfigFile(),
    ...settingRows.flatMap(([name]) => (isTold(name) ? [] : shown(name, settings))),
    ...wrong,
    ...(settings.proxy === undefined ? unusedProxies(env) : []),
    ...checkEnvironment(env),
  ]
}

function shown(name: (typeof settingRows)[number][0], settings: Settings): Finding[] {
  const { value, from } = settings[name] ?? { value: undefined, from: 'default' }
  if (from === 'default' || value === undefined) return []
  const text = Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value)
  return [good(name, `${name === 'proxy' ? withoutPassword(text) : text} (${from})`)]
}

const withoutPassword = (address: string): string => (URL.canParse(address) ? new URL(address).origin : '')

function checked(use: () => unknown, found: typeof note): Finding[] {
  try {
    use()
    return []
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return [found('settings', error.message, error.next)]
  }
}

function checkConfigFile(): Finding {
  if (!existsSync(configFile)) return good('config file', `${configFile} (none, and none is needed)`)
  const open = openToOthers(readConfigFile())
  return open === undefined ? good('config file', configFile) : problem('config file', open.problem, open.fix)
}

function checkEnvironment(env: NodeJS.ProcessEnv): Finding[] {
  const findings: Finding[] = []
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    const text = 'NODE_TLS_REJECT_UNAUTHORIZED is 0: Node would trust anybody.'
    findings.push(problem('environment', text, 'Unset it, and give --ca for a private certificate authority.'))
  }
  const credential = env['OWNER_SSO_CREDENTIAL'] ?? ''
  if (credential !== '') {
    const text = 'The password is in OWNER_SSO_CREDENTIAL: every program that is started from here gets it.'
    findings.push(note('environment', text, 'A file that only you can read is safer: --credential-file.'))
    try {
      // What a sign-in would refuse, told before it.
      secretFromText(credential, 'OWNER_SSO_CREDENTIAL')
    } catch (error) {
      findings.push(problem('environment', `${messageOf(error)}.`, 'Write it anew.'))
    }
  }
  const unknown = unknownVariables(env).map(({ problem: text, fix }) => note('environment', text, fix))
  return [...findings, ...unknown]
}

export function environmentProxies(env: NodeJS.ProcessEnv): string[] {
  return ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].filter((name) => env[name])
}

function unusedProxies(env: NodeJS.ProcessEnv): Finding[] {
  const proxies = environmentProxies(env)
  if (proxies.length === 0) return []
  const fix = 'Connections go out directly. If they have to go through a proxy, set OWNER_SSO_PROXY to its address.'
  return [note('environment', `${proxies.join(', ')} is set, but not used.`, fix)]
}
