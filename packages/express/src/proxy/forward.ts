/**
 * What is decided and fetched for one call before it goes out: the path, the permission, the account, its token, the body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { verificationProblem, whatCame } from '@owner-sso/core'
import type { Dispatcher } from 'undici'
import { requireAccount } from '../account-source.ts'
import { ownerApiErrorAnswer } from '../answers/owner-api-error.ts'
import type { Answer } from '../answers/problem.ts'
import { type ProblemListener, reported } from '../answers/problem-report.ts'
import { ssoErrorAnswer } from '../answers/sso-error.ts'
import { isOver } from '../door/entry.ts'
import { nextToken } from '../next-token.ts'
import { tokenHistories } from '../refused-token.ts'
import { admission, mountPathOf } from './admission.ts'
import type { TracedCall } from './call-trace.ts'
import { runProxiedCall } from './proxied-call.ts'
import type { ProxySettings } from './options.ts'
import { answerHeaders, ownLocation } from './response-headers.ts'
import { type RequestBody, requestBody, upstreamHeaders } from './upstream-request.ts'

/** What is known of a call when it arrives. */
interface Arrival {
  /** By the monotonic clock, in milliseconds. */
  readonly began: number
  readonly traced: TracedCall | undefined
}

/** A call on its way through the proxy. */
interface Call<Request> extends Arrival {
  readonly request: Request
  readonly response: ServerResponse
  /** Path and query of the owner API. */
  readonly path: string
  readonly account: string
  readonly token: string
  readonly body: RequestBody
}

/**
 * The answer where `authorize` did not return `true`. A truthy value counts as a no too, and is reported: its author means yes.
 */
function forbidden<Request extends IncomingMessage>(
  request: Request,
  verdict: unknown,
  onProblem: ProblemListener<Request> | undefined,
): Answer {
  const answer = ownerApiErrorAnswer('ERR_OWNER_API_FORBIDDEN')
  if (!verdict) return answer
  const problem = new TypeError(`authorize must return true or false${whatCame(verdict)}`)
  return reported(answer, problem, request, onProblem)
}

/** @returns what forwards a call; it gives the answer where the call does not go out, and nothing where the caller has gone */
export function forwarder<Request extends IncomingMessage>(
  settings: ProxySettings<Request>,
  dispatcher: Dispatcher,
): (request: Request, response: ServerResponse, arrival: Arrival) => Promise<Answer | undefined> {
  const { tokens, authorize, accountOf, onProblem } = settings
  const histories = tokenHistories()

  async function forward(request: Request, response: ServerResponse, arrival: Arrival): Promise<Answer | undefined> {
    const path = admission(request, settings)
    if (typeof path !== 'string') return path
    const isAllowed: unknown = authorize === true || (await authorize(request))
    if (isAllowed !== true) return forbidden(request, isAllowed, onProblem)
    const account = requireAccount(await accountOf(request))
    if (arrival.traced !== undefined) arrival.traced.message.account = account
    const unverified = verificationProblem(settings.target)
    if (unverified !== undefined) {
      const problem = new Error(`target ${unverified}`)
      return reported(ownerApiErrorAnswer('ERR_OWNER_API_INTERNAL'), problem, request, onProblem)
    }
    const token = await tokens.getAccessToken(account)
    if (isOver(response)) return undefined
    const body = await requestBody(request, settings.replayLimit)
    if ('problem' in body) return body
    if (!isOver(response)) send({ request, response, ...arrival, path, account, token, body })
    return undefined
  }

  function send({ request, response, began, traced, path, account, token, body }: Call<Request>): void {
    const { headersTimeout, bodyTimeout, maxDuration } = settings
    const canRepeat = body.content === undefined || Buffer.isBuffer(body.content)
    runProxiedCall(dispatcher, {
      method: request.method ?? '',
      path,
      headers: upstreamHeaders(request, settings.requestHeaders, settings.transport.userAgent, body),
      content: body.content,
      token,
      response,
      headersTimeout,
      bodyTimeout,
      maxDuration: Math.max(1, began + maxDuration - performance.now()),
      answerHeaders: (status, headers, trace) =>
        answerHeaders(status, headers, {
          names: settings.responseHeaders,
          showsToken: trace.inText,
          own: response.getHeaders(),
          location: (value) => ownLocation(value, path, mountPathOf(request), settings),
        }),
      note(sent, status) {
        if (histories.note(account, sent, status)) tokens.accepted?.(account, sent)
      },
      judge: (sent, refusal) => histories.judge(account, sent, refusal),
      isFresh: (sent) => histories.isFresh(account, sent),
      nextToken(sent, verdict, repeats) {
        const next = (): Promise<string | undefined> =>
          nextToken(tokens, { account, token: sent, verdict, canRepeat, repeats })
        return traced === undefined ? next() : traced.within(next)
      },
      answerTo: (error) => ssoErrorAnswer(error) ?? ownerApiErrorAnswer('ERR_OWNER_API_INTERNAL'),
      report: (answer, error) => reported(answer, error, request, onProblem, settings.target.host),
    })
  }

  return forward
}
