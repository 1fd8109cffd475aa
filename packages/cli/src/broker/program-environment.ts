/**
 * What a program finds in its environment that is run by the broker: the proxy, and files with the authority of this run.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { CommandError, systemError, usageError } from '../failure/command-error.ts'
import { configFolder } from '../machine/folders.ts'

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

/**
 * The folder with what the program of one run trusts. A program may outlive this process, and goes on trusting that path: so nobody else
 * may ever be able to make it, as they could in the shared temporary folder once it is gone.
 *
 * @throws CommandError where there is no place for it
 */
function newRunFolder(): string {
  const place = join(configFolder, 'run')
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 })
    chmodSync(place, 0o700)
    requireOwn(realpathSync(place))
    return mkdtempSync(join(place, 'run-'))
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw systemError(`No folder can be made in ${place}`, error, where)
  }
}

const where = 'Let XDG_CONFIG_HOME name a folder of yours.'

/** Who owns a folder above it, or may write to one, could put another in its place. @throws CommandError */
function requireOwn(folder: string): void {
  if (process.getuid === undefined) return
  const { uid, mode } = statSync(folder)
  const [othersWrite, sticky] = [0o002, 0o1000]
  if (uid !== 0 && uid !== process.getuid()) throw usageError(`${folder} belongs to user ${uid}.`, where)
  if ((mode & othersWrite) !== 0 && (mode & sticky) === 0) throw usageError(`Every user can write to ${folder}.`, where)
  if (dirname(folder) !== folder) requireOwn(dirname(folder))
}
