/**
 * `bearer`: puts an account's token on a request, in front of any proxy or handler. `ownerApiBearer` is the owner's case of it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkOptions, kinds, type OptionRows } from '@owner-sso/core'
import onHeaders from 'on-headers'
import {
  type AccountSource,
  accountOfUser,
  accountReader,
  requireAccount,
  type Tokens,
  tokensRow,
} from './account-source.ts'
import { callErrorAnswer } from './answers/owner-api-error.ts'
import { sendAnswer } from './answers/problem.ts'
import { answerFault, type ProblemListener, reported } from './answers/problem-report.ts'
import { ssoErrorAnswer } from './answers/sso-error.ts'
import { keepFromSharedCaches } from './caching.ts'
import { connectionNames } from './proxy/header-names.ts'

/** `req.ownerSso`: what `ownerApiBearer` leaves on the request. */
export interface OwnerSso {
  readonly account: string
  /** A valid access token, for a call of one's own. */
  getAccessToken(): Promise<string>
}

declare global {
  // Express's own way to add to its request; without Express's types it adds to nothing.
  namespace Express {
    interface Request {
      ownerSso?: OwnerSso
    }
  }
}

/** Whose token goes on a request, and who answers where there is none. */
export interface BearerOptions<Request extends IncomingMessage = IncomingMessage> {
  /** The token manager. */
  readonly tokens: Tokens
  /** Whose token: a name, or a function of the request, which has 30 seconds. `undefined`: nobody is signed in. */
  readonly account: AccountSource<Request>
  /** Is told of every error that is answered with problem details, for a log. Default: a warning of the process, once for each cause. */
  readonly onProblem?: ProblemListener<Request> | undefined
  /** Answers where there is no token, in place of problem details. Its error is for a log: the message may name a host or a path. */
  readonly onError?:
    | ((error: unknown, request: Request, response: ServerResponse, next: (error?: unknown) => void) => void)
    | undefined
}

const rows: OptionRows<BearerOptions> = {
  tokens: tokensRow,
  account: kinds.any,
  onProblem: kinds.function,
  onError: kinds.function,
}

/** Awaited by nobody and never rejects: it calls `next()` once the headers are rewritten, or answers. */
export type BearerMiddleware<Request extends IncomingMessage = IncomingMessage> = (
  request: Request,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

/** Credentials of the caller's, which are for the application and not for the owner API. */
const callersCredentials = ['authorization', 'cookie', 'cookie2', 'proxy-authorization'] as const
/** What a `Connection` header is for; anything else in it names a header that ends here (RFC 9110 section 7.6.1). */
const connectionOptions = new Set(['close', 'keep-alive', 'upgrade', ''])

/** {@link BearerOptions} of the owner API. `account` defaults to `req.user.account`, as Passport leaves it. */
export type OwnerApiBearerOptions<Request extends IncomingMessage = IncomingMessage> = Omit<
  BearerOptions<Request>,
  'account'
> &
  Partial<Pick<BearerOptions<Request>, 'account'>>

/**
 * Middleware that resolves the token before anything is sent and rewrites the request's headers: the caller's credentials
 * are removed, and `Authorization: Bearer …` is added. It sets `req.ownerSso`, and keeps the answer from shared caches,
 * whoever writes it. Put it behind what needs the caller's cookie, and in front of http-proxy-middleware or any other handler that
 * forwards `req.headers`.
 *
 * @throws TypeError that names a wrong option
 * @example
 * app.use('/api', bearer({ tokens, account: (req) => req.session.account }), proxy)
 */
export function bearer<Request extends IncomingMessage = IncomingMessage>(
  options: BearerOptions<Request>,
): BearerMiddleware<Request> {
  return bearerOf('bearer', options)
}

/**
 * {@link bearer} for the owner API, whose account is that of the user whom Passport has put on the request.
 *
 * @throws TypeError that names a wrong option
 */
export function ownerApiBearer<Request extends IncomingMessage = IncomingMessage>(
  options: OwnerApiBearerOptions<Request>,
): BearerMiddleware<Request> {
  return bearerOf('ownerApiBearer', options, accountOfUser)
}

function bearerOf<Request extends IncomingMessage>(
  name: string,
  options: OwnerApiBearerOptions<Request>,
  byDefault?: (request: Request) => string | undefined,
): BearerMiddleware<Request> {
  checkOptions(name, options, rows)
  const { tokens, onProblem, onError = answerWith(onProblem) } = options
  const accountOf = options.account === undefined && byDefault ? byDefault : accountReader(options.account)

  async function addToken(request: Request, response: ServerResponse): Promise<void> {
    const account = requireAccount(await accountOf(request))
    const getAccessToken = (): Promise<string> => tokens.getAccessToken(account)
    setBearer(request, await getAccessToken())
    keepFromSharedCaches(response)
    keepDispositionBytes(response)
    Object.assign(request, { ownerSso: { account, getAccessToken } satisfies OwnerSso })
  }

  return (request, response, next) => {
    addToken(request, response)
      .then(
        () => next(),
        (error: unknown) => onError(error, request, response, next),
      )
      .catch((error: unknown) => answerFault(`${name}: onError, or a handler behind it,`, error, response))
  }
}

/** The default `onError`. */
function answerWith<Request extends IncomingMessage>(
  onProblem: ProblemListener<Request> | undefined,
): NonNullable<BearerOptions<Request>['onError']> {
  return (error, request, response, next) => {
    const answer = ssoErrorAnswer(error) ?? callErrorAnswer(error)
    if (answer) sendAnswer(response, reported(answer, error, request, onProblem))
    else next(error)
  }
}

/** Rewrites the headers in each form in which Node offers them: proxies read one or another. */
function setBearer(request: IncomingMessage, token: string): void {
  // Node makes both of the raw headers when they are first read, which fails once some of those are gone: so read them now.
  const { headers, headersDistinct } = request
  const named = [...(connectionNames(headers.connection) ?? [])].filter((name) => !connectionOptions.has(name))
  const removed = new Set<string>([...callersCredentials, ...named, ...(named.length > 0 ? ['connection'] : [])])
  const authorization = `Bearer ${token}`
  for (const name of removed) {
    delete headers[name]
    delete headersDistinct[name]
  }
  headers.authorization = authorization
  headersDistinct['authorization'] = [authorization]
  const raw = request.rawHeaders
  request.rawHeaders = [
    ...raw.filter((_, index) => !removed.has(String(raw[index - (index % 2)]).toLowerCase())),
    'Authorization',
    authorization,
  ]
}

/**
 * Keeps the header `Content-Disposition` as it is. Where the body's length is known before it, Node reads this header as UTF-8 and
 * writes the low byte of each character: of `Ċ` that is the end of a line, and what follows it would be a header of its own. A
 * handler that passes on an answer of the owner API may have it in any order.
 */
function keepDispositionBytes(response: ServerResponse): void {
  onHeaders(response, () => {
    const length = response.getHeader('content-length')
    if (length === undefined || !response.hasHeader('content-disposition')) return
    response.removeHeader('content-length')
    response.setHeader('content-length', length)
    // Where `end(body)` writes the headers, it has noted the length already.
    Reflect.set(response, '_contentLength', null)
  })
}
