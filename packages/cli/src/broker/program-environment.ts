/**
 * What a program finds in its environment that is run by the broker: the proxy, and files with the authority of this run.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { systemError, usageError } from '../failure/command-error.ts'
import { newRunFolder } from './run-folder.ts'

export interface ProgramEnvironment {
  readonly env: NodeJS.ProcessEnv
  readonly remove: () => void
}

/**
 * Each names a file with authorities that a program trusts, in place of the system's but for Node's; and with it the
 * variable that such programs go by where it is not set.
 */
const authorityVariables = {
  NODE_EXTRA_CA_CERTS: undefined,
  SSL_CERT_FILE: undefined,
  REQUESTS_CA_BUNDLE: 'CURL_CA_BUNDLE',
  CURL_CA_BUNDLE: 'SSL_CERT_FILE',
} as const

/** Debian and its like, Fedora and its like, macOS and BSD. */
const systemBundles = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem']

/**
 * The caller's environment without what is owner-sso's own, since that holds keys and passwords.
 *
 * @param authority - PEM
 * @throws CommandError where a file can't be read that a variable names, or there is no place for new ones
 */
export function programEnvironment(proxyUrl: string, authority: string): ProgramEnvironment {
  const folder = newRunFolder()
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:OWNER_SSO_|no_proxy$)/iu.test(name))
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(inherited),
    HTTPS_PROXY: proxyUrl,
    https_proxy: proxyUrl,
    NODE_USE_ENV_PROXY: '1',
  }
  try {
    for (const [name, substitute = name] of Object.entries(authorityVariables)) {
      const whose = process.env[name] ? name : substitute
      const path = process.env[whose]
      const others = path ? bundleAt(path, whose) : name === 'NODE_EXTRA_CA_CERTS' ? '' : systemRoots()
      env[name] = join(folder, `${name}.pem`)
      writeFileSync(env[name], `${authority}\n${others}`, { mode: 0o600, flag: 'wx' })
    }
  } catch (error) {
    remove()
    throw error
  }
  return { env, remove }
}

function systemRoots(): string {
  const bundle = systemBundles.find((path) => existsSync(path))
  return bundle === undefined ? rootCertificates.join('\n') : bundleAt(bundle, 'the system')
}

function bundleAt(path: string, whose: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw systemError(`${path} can’t be read, which ${whose} names`, error, `Let ${whose} name a file in PEM.`)
  }
}

/** What leads a program to another proxy. This one can't go through it, and would cut the program off. @throws CommandError */
export function refuseOtherProxies(): void {
  const other = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy', 'HTTP_PROXY', 'http_proxy'].find(
    (name) => process.env[name],
  )
  if (other === undefined) return
  throw usageError(
    `${other} names a proxy already.`,
    `The program gets one of the broker: unset ${other} for this call.`,
  )
}
