/**
 * One call of the owner API with the owner's token, the same for `fetch` and axios: it is sent, and where the token was refused
 * again with the next one.
 */
import type { Tokens } from '../account-source.ts'
import { isClosed, OwnerApiClosedError } from '../closed-endpoint.ts'
import { nextToken } from '../next-token.ts'
import { OwnerApiTokenRefusedError, type Refusal, tokenHistories, type Verdict } from '../refused-token.ts'

/** What came of sending a call once. */
export interface Sent<Answer> {
  /** `undefined` where no answer came. */
  readonly status: number | undefined
  /** What a 403 or 412 says; the caller can read it all the same. */
  readonly refusal: () => Promise<Refusal>
  /** The answer as the caller gets it. @throws what the caller gets in its place */
  readonly answer: () => Answer
  /** Throws the answer away, so that its connection is free again. */
  readonly discard: () => void
}

export interface OwnerCall<Answer> {
  readonly account: string
  readonly signal: AbortSignal | undefined
  /** Whether the request can be sent again. */
  readonly canRepeat: boolean
  readonly send: (token: string) => Promise<Sent<Answer>>
  /** What the caller gets where there is no token. */
  readonly failed: (error: unknown) => Promise<never>
}

/** @returns the calls of one `fetch` or one axios instance, which remembers what the owner API made of each account's token */
export function ownerCaller(tokens: Tokens): <Answer>(call: OwnerCall<Answer>) => Promise<Answer> {
  const histories = tokenHistories()

  async function verdictOn<Answer>(account: string, token: string, sent: Sent<Answer>): Promise<Verdict> {
    const { status } = sent
    if (status === undefined) return 'call'
    if (histories.note(account, token, status)) tokens.accepted?.(account, token)
    if (status === 401) return 'invalid'
    return status === 403 ? histories.judge(account, token, await sent.refusal()) : 'call'
  }

  /** There is no other token. A 403 that is about the token would be taken for one about the call. */
  function refusedAnswer<Answer>(account: string, token: string, verdict: Verdict, sent: Sent<Answer>): Answer {
    const isOfToken = verdict === 'invalid' || histories.isFresh(account, token)
    if (sent.status !== 403 || !isOfToken) return sent.answer()
    sent.discard()
    throw new OwnerApiTokenRefusedError()
  }

  return async ({ account, signal, canRepeat, send, failed }) => {
    let token = await tokens.getAccessToken(account, { signal }).catch(failed)
    for (let repeats = 0; ; repeats += 1) {
      const sent = await send(token)
      const verdict = await verdictOn(account, token, sent)
      if (verdict === 'call') return ownAnswer(sent)
      const refused = { account, token, verdict, canRepeat, signal, repeats }
      const next = await nextToken(tokens, refused).catch((error: unknown) => {
        if (repeats > 0) return undefined
        sent.discard()
        return failed(error)
      })
      if (next === undefined) return refusedAnswer(account, token, verdict, sent)
      sent.discard()
      token = next
    }
  }
}

/** An answer that is about the call. */
async function ownAnswer<Answer>(sent: Sent<Answer>): Promise<Answer> {
  if (sent.status !== 412 || !isClosed(await sent.refusal())) return sent.answer()
  sent.discard()
  throw new OwnerApiClosedError()
}
