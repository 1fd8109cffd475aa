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
import { tokenHistories } from '../refused-token.ts'
import { admission, mountPathOf } from './admission.ts'
import type { TracedCall } from './call-trace.ts'
import { runProxiedCall } from './proxied-call.ts'
import type { ProxySettings } from './options.ts'
import { answerHeaders, ownLocation } from './response-headers.ts'
import { requestBody, upstreamHeaders } from './upstream-request.ts'

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
): (request: Request, response: ServerResponse, traced: TracedCall | undefined) => Promise<Answer | undefined> {
  const { target, tokens, authorize, accountOf, headersTimeout, bodyTimeout, onProblem } = settings
  const histories = tokenHistories(tokens)

  return async (request, response, traced) => {
    const began = performance.now()
    const path = admission(request, settings)
    if (typeof path !== 'string') return path
    const isAllowed: unknown = authorize === true || (await authorize(request))
    if (isAllowed !== true) return forbidden(request, isAllowed, onProblem)
    const account = requireAccount(await accountOf(request))
    if (traced !== undefined) traced.message.account = account
    const unverified = verificationProblem(target)
    if (unverified !== undefined) {
      const problem = new Error(`target ${unverified}`)
      return reported(ownerApiErrorAnswer('ERR_OWNER_API_INTERNAL'), problem, request, onProblem)
    }
    const token = await tokens.getAccessToken(account)
    if (isOver(response)) return undefined
    const body = await requestBody(request, settings.replayLimit)
    if ('problem' in body) return body
    if (isOver(response)) return undefined
    runProxiedCall(dispatcher, {
      method: request.method ?? '',
      path,
      headers: upstreamHeaders(request, settings.requestHeaders, settings.transport.userAgent, body),
      content: body.content,
      account,
      token,
      // A refresh is a part of the call, for whoever traces it.
      histories:
        traced === undefined
          ? histories
          : { ...histories, next: (...of) => traced.within(() => histories.next(...of)) },
      response,
      headersTimeout,
      bodyTimeout,
      maxDuration: Math.max(1, began + settings.maxDuration - performance.now()),
      answerHeaders: (status, headers, { inText }) =>
        answerHeaders(status, headers, {
          names: settings.responseHeaders,
          showsToken: inText,
          own: response.getHeaders(),
          location: (value) => ownLocation(value, path, mountPathOf(request), settings),
        }),
      answerTo: (error) => ssoErrorAnswer(error) ?? ownerApiErrorAnswer('ERR_OWNER_API_INTERNAL'),
      report: (answer, error) => reported(answer, error, request, onProblem, target.host),
    })
    return undefined
  }
}
