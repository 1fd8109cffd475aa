/**
 * One call of the owner API with the owner's token, the same for `fetch` and axios: it is sent, and after a 401 once more with the
 * next token.
 */
import type { Tokens } from '../account-source.ts'
import { nextToken } from '../next-token.ts'
import { OwnerApiTokenRefusedError, tokenHistories } from '../refused-token.ts'

/** What came of sending a call once. */
export interface Sent<Answer> {
  /** `undefined` where no answer came. */
  readonly status: number | undefined
  /** The answer as the caller gets it. @throws what the caller gets in its place */
  readonly answer: () => Answer
  /** Throws the answer away, so that its connection is free again. */
  readonly discard: () => void
}

export interface OwnerCall<Answer> {
  readonly account: string
  readonly signal: AbortSignal | undefined
  /** Whether the request can be sent a second time. */
  readonly canRepeat: boolean
  readonly send: (token: string) => Promise<Sent<Answer>>
  /** What the caller gets where there is no token. */
  readonly failed: (error: unknown) => Promise<never>
}

/** @returns the calls of one `fetch` or one axios instance, which remembers what the owner API made of each account's token */
export function ownerCaller(tokens: Tokens): <Answer>(call: OwnerCall<Answer>) => Promise<Answer> {
  const histories = tokenHistories()

  async function sendChecked<Answer>({ account, send }: OwnerCall<Answer>, token: string): Promise<Sent<Answer>> {
    const sent = await send(token)
    if (sent.status === undefined || !histories.refusesToken(account, token, sent.status)) return sent
    sent.discard()
    throw new OwnerApiTokenRefusedError()
  }

  return async (call) => {
    const { account, signal, canRepeat, failed } = call
    const token = await tokens.getAccessToken(account, { signal }).catch(failed)
    const first = await sendChecked(call, token)
    if (first.status !== 401) return first.answer()
    const next = await nextToken(tokens, account, token, canRepeat, signal).catch((error: unknown) => {
      first.discard()
      return failed(error)
    })
    if (next === undefined) return first.answer()
    first.discard()
    return (await sendChecked(call, next)).answer()
  }
}
