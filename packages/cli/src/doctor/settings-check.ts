/**
 * What is set, where it came from, and whether it makes sense.
 */
import { existsSync } from 'node:fs'
import { secretFromText } from '@owner-sso/core'
import {
  addressesAlone,
  apiUrlOf,
  certificateAuthority,
  outboundProxyOf,
  requestBudgetOf,
  serviceOf,
  transportOf,
} from '../settings/configured-service.ts'
import { CommandError, messageOf } from '../failure/command-error.ts'
import { openToOthers, readConfigFile } from '../settings/config-file.ts'
import { configFile } from '../machine/folders.ts'
import { unknownVariables } from '../settings/variables.ts'
import type { Given, Settings } from '../settings/settings.ts'
import { type Finding, good, note, problem } from '../terminal/finding.ts'

export function checkSettings(settings: Settings, env: NodeJS.ProcessEnv): Finding[] {
  const { ca, account, proxy } = settings
  const { tokenUrl, redirectUri } = settings
  const service = addressesAlone(settings)
  // What a registered application is made of belongs together; the way there is looked at for itself.
  const way = { ca: undefined, proxy: undefined, transport: undefined }
  const kind = settings.service?.value === 'registered' ? { ...settings, ...way } : service
  return [
    good('Node', `${process.version} on ${process.platform}`),
    checkConfigFile(),
    checked('SSO service', settings.authUrl, () => serviceOf(service)),
    ...(settings.regionalAuthUrls.value.length > 0 ? [shown('other instances', settings.regionalAuthUrls)] : []),
    ...(settings.authUrl === undefined
      ? []
      : checkedIfSet('token endpoint', tokenUrl, () => serviceOf({ ...service, tokenUrl }))),
    checked('owner API', settings.apiUrl, () => apiUrlOf(settings), 'note'),
    account === undefined
      ? good('account', 'none is set, which is fine while the store has only one')
      : shown('account', account),
    ...(ca === undefined ? [] : [checked('CA', ca, () => certificateAuthority(ca.value))]),
    ...checkedIfSet('service', settings.service, () => serviceOf({ ...kind, service: settings.service })),
    ...checkedIfSet('transport', settings.transport, () => transportOf({ ...settings, ca: undefined })),
    ...checkedIfSet('request budget', settings.requestBudget, () => requestBudgetOf(settings)),
    ...(settings.refresh.value === 'here' ? [] : [shown('refresh', settings.refresh)]),
    ...(redirectUri && settings.authUrl
      ? [checked('redirect URI', redirectUri, () => serviceOf({ ...service, redirectUri }))]
      : []),
    ...checkedIfSet('code challenge', settings.codeChallengeEncoding, () =>
      serviceOf({ ...service, codeChallengeEncoding: settings.codeChallengeEncoding }),
    ),
    ...(proxy === undefined
      ? unusedProxies(env)
      : [checked('outbound proxy', withoutPassword(proxy), () => outboundProxyOf(settings))]),
    ...checkEnvironment(env),
  ]
}

/** What is text, or an object of the config file. */
function checkedIfSet(about: string, given: Given<string | object> | undefined, use: () => unknown): Finding[] {
  if (given === undefined) return []
  const text = typeof given.value === 'string' ? given.value : JSON.stringify(given.value)
  return [checked(about, { value: text, from: given.from }, use)]
}

function checked(
  about: string,
  given: Given<string> | undefined,
  use: () => unknown,
  level: 'note' | 'problem' = 'problem',
): Finding {
  try {
    use()
    return given === undefined ? good(about, 'not set') : shown(about, given)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return level === 'note' ? note(about, error.message, error.next) : problem(about, error.message, error.next)
  }
}

function shown(about: string, { value, from }: Given<string | readonly string[]>): Finding {
  return good(about, `${typeof value === 'string' ? value : value.join(', ')} (${from})`)
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
  if ((env['OWNER_SSO_CREDENTIAL'] ?? '') !== '') {
    const text = 'The password is in OWNER_SSO_CREDENTIAL: every program that is started from here gets it.'
    findings.push(note('environment', text, 'A file that only you can read is safer: --credential-file.'))
    findings.push(...checkCredential(env['OWNER_SSO_CREDENTIAL'] ?? ''))
  }
  const unknown = unknownVariables(env).map(({ problem: text, fix }) => note('environment', text, fix))
  return [...findings, ...unknown]
}

/** What a sign-in would refuse, told before it. */
function checkCredential(text: string): Finding[] {
  try {
    secretFromText(text, 'OWNER_SSO_CREDENTIAL')
    return []
  } catch (error) {
    return [problem('environment', `${messageOf(error)}.`, 'Write it anew.')]
  }
}

/** Variables that other programs take a proxy from. */
export function environmentProxies(env: NodeJS.ProcessEnv): string[] {
  return ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].filter((name) => env[name])
}

function unusedProxies(env: NodeJS.ProcessEnv): Finding[] {
  const proxies = environmentProxies(env)
  if (proxies.length === 0) return []
  const fix = 'Connections go out directly. If they have to go through a proxy, set OWNER_SSO_PROXY to its address.'
  return [note('environment', `${proxies.join(', ')} is set, but not used.`, fix)]
}

/** Scheme, host and port. */
function withoutPassword({ value, from }: Given<string>): Given<string> {
  return { value: URL.canParse(value) ? new URL(value).origin : '', from }
}
