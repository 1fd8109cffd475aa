/**
 * `ownerFetch`: `fetch` with the owner's token on it.
 */
import { checkOptions, kinds, proxyOf, type Transport, transportOf } from '@owner-sso/core'
import { Agent, buildConnector } from 'undici'
import { accountReader, requireAccount } from '../account-source.ts'
import { isClosed, OwnerApiClosedError } from '../closed-endpoint.ts'
import { reading } from '../early-answer.ts'
import { OwnerApiTokenRefusedError, tokenHistories, type Verdict } from '../refused-token.ts'
import { apiUrlOfEnvironment, ownerApiTarget } from '../target.ts'
import { throughProxy, tunnelTimeout } from '../tunnel.ts'
import { checkedAddress, type OwnerCallOptions, ownerCallRows } from './options.ts'
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
  const { tokens, target: given = apiUrlOfEnvironment(), tls } = options
  const accountOf = accountReader<void>(options.account)
  const target = given === undefined ? undefined : ownerApiTarget(given)
  const isStated = options.transport !== undefined || tls !== undefined
  const transport = isStated ? transportOf({ transport: options.transport, tls }) : undefined
  const proxy = proxyOf(options)
  if (options.fetch !== undefined && (transport !== undefined || proxy !== undefined)) {
    const other = transport === undefined ? 'proxy' : 'transport'
    throw new TypeError(`${other} and fetch can’t be given together: fetch makes its own connections`)
  }
  const send = options.fetch ?? fetchOver(transport, proxy)
  const histories = tokenHistories(tokens)

  /** What an answer is about. @throws OwnerApiClosedError */
  async function judged(account: string, token: string, answer: Response): Promise<Judged> {
    const { status } = answer
    histories.note(account, token, status)
    if (status === 401) return { answer, verdict: 'invalid' }
    if (status !== 403 && status !== 412) return { answer, verdict: 'call' }
    const { refusal, ...same } = await peekAt(answer)
    if (status === 403) return { ...same, verdict: histories.judge(account, token, refusal) }
    if (!isClosed(refusal)) return { ...same, verdict: 'call' }
    discard(same.answer)
    throw new OwnerApiClosedError()
  }

  return async (input, init) => {
    const request = input instanceof Request ? input : undefined
    const signal = (init?.signal === undefined ? request?.signal : init.signal) ?? undefined
    if (signal?.aborted) throw signal.reason
    const address = checkedAddress(input instanceof Request ? input.url : String(input), target)
    const account = requireAccount(await accountOf())
    const canRepeat = isRepeatable(init?.body) && (init?.body != null || (request?.body ?? null) === null)
    // As with `fetch`, a call that was stopped fails with the reason. The refresh that it waited for goes on.
    const failed = (error: unknown): never => {
      throw signal?.aborted ? signal.reason : error
    }
    let token = await tokens.getAccessToken(account, { signal }).catch(failed)
    for (let repeats = 0; ; repeats += 1) {
      const headers = new Headers(init?.headers ?? request?.headers)
      headers.set('authorization', `Bearer ${token}`)
      if (transport && !headers.has('user-agent')) headers.set('user-agent', transport.userAgent)
      const sent = await send(request ?? address, { ...init, headers, redirect: 'manual' })
      const { answer, verdict } = await judged(account, token, sent)
      if (verdict === 'call') return answer
      const refused = { account, token, verdict, canRepeat, signal, repeats }
      const next = await histories.next(refused).catch((error: unknown) => {
        if (repeats > 0) return undefined
        discard(answer)
        return failed(error)
      })
      // A 403 that is about the token would be taken for one about the call.
      const isOfToken = answer.status === 403 && (verdict === 'invalid' || histories.isFresh(account, token))
      if (next === undefined && !isOfToken) return answer
      discard(answer)
      if (next === undefined) throw new OwnerApiTokenRefusedError()
      token = next
    }
  }
}

/** An answer that the caller can read, and what it says of the token. */
interface Judged {
  readonly answer: Response
  readonly verdict: Verdict
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

/** Straight connections over Node's own TLS, for all who want nothing else. */
let usual: Agent | undefined

const connected = (connect: buildConnector.connector): Agent => new Agent({ connect: reading(connect) })

/**
 * A `fetch` straight to the owner API, or through a tunnel of the application's choosing. Never through a proxy that the environment
 * names. Plain http never leaves the machine, and so takes no proxy.
 */
function fetchOver(transport: Transport | undefined, proxy: string | undefined): typeof globalThis.fetch {
  // Stated, because the environment could turn it off.
  const tls = { ...transport?.tls, rejectUnauthorized: true }
  let own: Agent | undefined
  const straight = (): Agent =>
    transport === undefined ? (usual ??= connected(buildConnector(tls))) : (own ??= connected(buildConnector(tls)))
  const tunnels = proxy === undefined ? undefined : connected(throughProxy(proxy, { timeout: tunnelTimeout, ...tls }))
  return (input, init) => {
    const isSecure = (input instanceof Request ? input.url : String(input)).startsWith('https:')
    // Node's `fetch` takes a dispatcher, which its types don't know.
    const options: object = { dispatcher: isSecure && tunnels ? tunnels : straight(), ...init }
    return globalThis.fetch(input, options)
  }
}
