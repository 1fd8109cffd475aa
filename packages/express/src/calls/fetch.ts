/**
 * `ownerFetch`: `fetch` with the owner's token on it.
 */
import { checkOptions, kinds, proxyOf } from '@owner-sso/core'
import { requireAccount } from '../account-source.ts'
import { checkedAddress, type OwnerCallOptions, ownerCallRows, parseOwnerCallOptions } from './options.ts'
import { fetchOver } from './connections.ts'
import { ownerCaller } from './owner-call.ts'
import { peekAt } from './peeked-answer.ts'

/** Whose token goes on the calls, where to, and through which `fetch`. */
export interface OwnerFetchOptions extends OwnerCallOptions {
  /**
   * The function that makes the call, on connections of its own. Default: the global `fetch`, on ours: verified, and straight
   * to the owner API or through `proxy`, whatever proxy the environment names.
   */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** An outbound proxy's URL, for https alone: plain http never leaves the machine. */
  readonly proxy?: string | undefined
}

/**
 * A `fetch` for one account: every call carries a valid token, a refusal of it (401, or a 403 that is about the token) is answered
 * by one more call with the next token where there is one and the body can be sent again, and addresses may be relative to `target`. No redirect is followed: it is the answer.
 *
 * The returned function throws what `fetch` and `tokens.getAccessToken` throw, and a TypeError for an address that the
 * token must not go to; `OwnerApiTokenRefusedError` in place of a 403 that is about the token and stays, `OwnerApiClosedError`
 * in place of a 412 that says that the endpoint is closed.
 *
 * @throws TypeError that names a wrong option
 */
export function ownerFetch(options: OwnerFetchOptions): typeof globalThis.fetch {
  checkOptions('ownerFetch', options, { ...ownerCallRows, fetch: kinds.function, proxy: kinds.any })
  const { tokens, accountOf, target, transport } = parseOwnerCallOptions(options)
  const proxy = proxyOf(options)
  if (options.fetch !== undefined && (transport !== undefined || proxy !== undefined)) {
    const other = transport === undefined ? 'proxy' : 'transport'
    throw new TypeError(`${other} and fetch can’t be given together: fetch makes its own connections`)
  }
  const send = options.fetch ?? fetchOver(transport, proxy)

  const call = ownerCaller(tokens)
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined
    const signal = (init?.signal === undefined ? request?.signal : init.signal) ?? undefined
    if (signal?.aborted) throw signal.reason
    const address = checkedAddress(input instanceof Request ? input.url : String(input), target)
    return call({
      account: requireAccount(await accountOf()),
      signal,
      canRepeat: isRepeatable(init?.body) && (init?.body != null || (request?.body ?? null) === null),
      async send(token) {
        const headers = new Headers(init?.headers ?? request?.headers)
        headers.set('authorization', `Bearer ${token}`)
        if (transport && !headers.has('user-agent')) headers.set('user-agent', transport.userAgent)
        let answer = await send(request ?? address, { ...init, headers, redirect: 'manual' })
        return {
          status: answer.status,
          async refusal() {
            const peeked = await peekAt(answer)
            answer = peeked.answer
            return peeked.refusal
          },
          answer: () => answer,
          discard: () => discard(answer),
        }
      },
      async failed(error) {
        // As with `fetch`, a call that was stopped fails with the reason. The refresh that it waited for goes on.
        throw signal?.aborted ? signal.reason : error
      },
    })
  }
}

/** Nobody reads the rest of it: its connection is let go, and an error on it does not matter. */
function discard({ body }: Response): void {
  body?.cancel().catch(() => undefined)
}

/** Whether a body can be sent again: a stream is gone once it was sent. */
function isRepeatable(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return true
  return !(Symbol.asyncIterator in body)
}
