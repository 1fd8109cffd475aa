/**
 * The proxy's options: what they are, and whether they make sense.
 */
import type { IncomingMessage } from 'node:http'
import {
  checkOption,
  checkOptions,
  kinds,
  type OptionRows,
  proxyOf,
  type TlsOptions,
  type Transport,
  type TransportOption,
  transportOf,
  whatCame,
} from '@owner-sso/core'
import {
  type AccountSource,
  accountOfUser,
  accountReader,
  resultInTime,
  type Tokens,
  tokensRow,
} from '../account-source.ts'
import type { ProblemListener } from '../answers/problem-report.ts'
import { ownerApiTarget } from '../target.ts'
import type { AdmissionRules } from './admission.ts'
import { requestHeaderNames, responseHeaderNames } from './header-names.ts'
import { isBelow, isUnambiguous } from './request-path.ts'

/** `Request` is Express's, or whatever the server hands out. */
export interface OwnerApiProxyOptions<Request extends IncomingMessage = IncomingMessage> {
  /** The owner API's address: https, or http on a loopback host. A path in it comes before the caller's. Default: `OWNER_SSO_API_URL`. */
  readonly target?: string | URL | undefined
  /** The token manager. */
  readonly tokens: Tokens
  /** Whose token: a name, or a function of the request; `undefined`: nobody is signed in. Default: `req.user.account`. */
  readonly account?: AccountSource<Request> | undefined
  /** Whether this caller may make this call. `true`: anyone who gets as far as this route. */
  readonly authorize: true | ((request: Request) => boolean | Promise<boolean>)
  /** Paths of the owner API that may be called, with all below them. Default: `['/api/1/']`. */
  readonly paths?: readonly string[] | undefined
  /** More of the caller's headers to forward. Default: `[]`. */
  readonly requestHeaders?: readonly string[] | undefined
  /** More of the owner API's headers to answer with. Default: `[]`. */
  readonly responseHeaders?: readonly string[] | undefined
  /** Other origins whose pages may call, such as `https://app.example.com`, or of an app, such as `capacitor://localhost`. Default: `[]`. */
  readonly trustedOrigins?: readonly string[] | undefined
  /** Calls under way at once, and so connections; more are answered with 503. Default 1,024. */
  readonly maxConcurrent?: number | undefined
  /** Bytes of a body of known length that is held in memory, so that it can be sent again after a 401. Default: 65,536. */
  readonly replayLimit?: number | undefined
  /** Milliseconds for a connection, its TLS handshake included. Default 10,000. */
  readonly connectTimeout?: number | undefined
  /** Milliseconds from the request's last byte to the answer's headers; `authorize` and `account` have as many, each. Default 30,000. */
  readonly headersTimeout?: number | undefined
  /** Milliseconds between two pieces of an answer, on either side of the proxy. Default 300,000. */
  readonly bodyTimeout?: number | undefined
  /** Milliseconds for a call as a whole, an event stream too. Default 3,600,000. */
  readonly maxDuration?: number | undefined
  /**
   * How the owner API is spoken to, in the words of `createSso`: a name, or `{ tls, userAgent }`. Of HTTP there is version 1.1 alone.
   * The caller's own User-Agent is not forwarded: the owner API's firewall dislikes browsers. Default: `'document'`.
   */
  readonly transport?: TransportOption | undefined
  /** `transport.tls` in short, and before it. Verification can't be turned off. */
  readonly tls?: TlsOptions | undefined
  /** An outbound proxy's address, for https alone; `HTTPS_PROXY` and the like are ignored. */
  readonly proxy?: string | undefined
  /** Is told of every answer that an error is behind, for a log: `(error, problem, req) => …`. The answer has one fixed sentence for each code. Default: a warning of the process. */
  readonly onProblem?: ProblemListener<Request> | undefined
}

const numbers = {
  maxConcurrent: 1024,
  replayLimit: 65_536,
  connectTimeout: 10_000,
  headersTimeout: 30_000,
  bodyTimeout: 300_000,
  maxDuration: 3_600_000,
}

/** The options, read once. */
export interface ProxySettings<Request extends IncomingMessage = IncomingMessage>
  extends
    Pick<OwnerApiProxyOptions<Request>, 'tokens' | 'authorize' | 'proxy' | 'onProblem'>,
    Readonly<typeof numbers>,
    AdmissionRules {
  readonly target: URL
  readonly accountOf: (request: Request) => string | undefined | Promise<string | undefined>
  readonly requestHeaders: readonly string[]
  readonly responseHeaders: ReadonlySet<string>
  readonly transport: Transport
}

const rows: OptionRows<OwnerApiProxyOptions> = {
  target: kinds.any,
  tokens: tokensRow,
  account: kinds.any,
  authorize: kinds.required({
    must: 'a function of the request, or true for anyone who reaches the proxy',
    fits: (value) => value === true || typeof value === 'function',
  }),
  paths: kinds.any,
  requestHeaders: kinds.any,
  responseHeaders: kinds.any,
  trustedOrigins: kinds.any,
  maxConcurrent: kinds.whole(1, 1_000_000),
  replayLimit: kinds.whole(0, 16 * 1024 ** 2),
  connectTimeout: kinds.milliseconds(1),
  headersTimeout: kinds.milliseconds(1),
  bodyTimeout: kinds.milliseconds(1),
  maxDuration: kinds.milliseconds(1),
  transport: kinds.any,
  tls: kinds.any,
  proxy: kinds.any,
  onProblem: kinds.function,
}

/** @throws TypeError that names the option */
export function parseProxyOptions<Request extends IncomingMessage>(
  options: OwnerApiProxyOptions<Request>,
): ProxySettings<Request> {
  checkOptions('ownerApiProxy', options, rows)
  const { tokens, authorize, onProblem } = options
  const target = ownerApiTarget(options.target)
  const basePath = target.pathname.replace(/\/$/u, '')
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const limits: typeof numbers = { ...numbers, ...given }
  const timeLimit = Math.min(limits.headersTimeout, limits.maxDuration)
  return {
    ...limits,
    target,
    basePath,
    tokens,
    accountOf: options.account === undefined ? accountOfUser : accountReader(options.account, timeLimit),
    authorize: authorize === true ? true : (request) => resultInTime('authorize', timeLimit, authorize(request)),
    paths: pathsBelow(basePath, options.paths),
    requestHeaders: requestHeaderNames(options.requestHeaders),
    responseHeaders: new Set(responseHeaderNames(options.responseHeaders)),
    trustedOrigins: origins(options.trustedOrigins),
    transport: transportOf(options),
    proxy: proxyOf(options),
    onProblem,
  }
}

const likePaths = 'an array of paths such as /api/1/'

function pathsBelow(basePath: string, paths: readonly string[] = ['/api/1/']): readonly string[] {
  checkOption('paths', { must: likePaths, fits: Array.isArray }, paths)
  requireThat(paths.length > 0, `paths must be ${likePaths}; an empty list came`)
  for (const path of paths) {
    requireThat(typeof path === 'string' && isUnambiguous(path), `paths must be ${likePaths}${whichCame(path)}`)
  }
  const pattern = paths.find((path) => path.includes('*') || path.includes('/:'))
  requireThat(pattern === undefined, `paths allow all that is below them, and know no patterns; ${pattern} came`)
  requireThat(
    paths.some((path) => isBelow(path, [`${basePath}/`]) || isBelow(`${basePath}/`, [path])),
    `paths has none below the path of target, ${basePath}: write the path of target in front of each`,
  )
  return paths
}

function origins(values: readonly string[] = []): ReadonlySet<string> {
  checkOption('trustedOrigins', { must: `an array of origins ${likeOrigins}`, fits: Array.isArray }, values)
  for (const value of values) {
    const isAnybodys = value === 'null' || value === 'file://'
    requireThat(!isAnybodys, `trustedOrigins can’t have ${value}, which files and sandboxed pages of anybody’s send`)
    requireThat(
      isOrigin(value),
      `trustedOrigins must be an array of origins ${likeOrigins}, without a path or a slash at the end${whichCame(value)}`,
    )
  }
  return new Set(values)
}

/** Which of a list's texts it is, unless there may be a secret in it. */
function whichCame(value: unknown): string {
  return typeof value === 'string' && /^[\w.:*/-]{0,100}$/u.test(value) ? `; "${value}" came` : whatCame(value)
}

const likeOrigins = 'such as https://app.example.com or capacitor://localhost'

/** As a browser sends it. Of a scheme of an app's own, such as `capacitor`, the URL standard knows no origin. */
function isOrigin(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { origin } = new URL(value)
  return origin === 'null' ? /^(?!file:)[a-z][a-z\d+.-]*:\/\/[a-z\d.-]+(?::\d+)?$/u.test(value) : origin === value
}

function requireThat(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new TypeError(problem)
}
