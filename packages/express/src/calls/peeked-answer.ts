/**
 * A 403 whose beginning was read, and that its caller can read from the beginning all the same. Not a `clone()` of it: where one
 * half of that was given up, the call's own signal ends the other half with a rejection that nobody can handle.
 */
import { startTimeLimit } from '@owner-sso/core'
import { longestRefusal, type Refusal, slowestRefusal } from '../refused-token.ts'

type Piece = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>

/** The answer for the caller, in place of the one that was read, and what it says of the token. */
export interface Peeked {
  readonly answer: Response
  readonly refusal: Refusal
}

export async function peekAt(answer: Response): Promise<Peeked> {
  const challenge = answer.headers.get('www-authenticate') ?? undefined
  const reader = answer.body?.getReader?.()
  if (reader === undefined) return { answer, refusal: { challenge, body: undefined } }
  const begun: Uint8Array[] = []
  let endLimit: (() => void) | undefined
  const slow = new Promise<'slow'>((resolve) => {
    endLimit = startTimeLimit(slowestRefusal, () => resolve('slow'))
  })
  let bytes = 0
  let next: Promise<Piece> = reader.read()
  let isWhole = false
  while (bytes <= longestRefusal && !isWhole) {
    const piece = await Promise.race([next, slow]).catch(() => 'slow' as const)
    if (piece === 'slow') break
    isWhole = piece.done
    if (piece.value === undefined) continue
    bytes += piece.value.length
    begun.push(piece.value)
    next = reader.read()
  }
  endLimit?.()
  // Whoever reads on hears of its failure.
  next.catch(() => undefined)
  const body = isWhole ? Buffer.concat(begun).toString() : undefined
  let unread: Promise<Piece> | undefined = next
  const whole = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const read = begun.shift()
      if (read !== undefined) return controller.enqueue(read)
      const { done, value } = await (unread ?? reader.read())
      unread = undefined
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  const { status, statusText, headers, url } = answer
  const same = Object.defineProperty(new Response(whole, { status, statusText, headers }), 'url', { value: url })
  return { answer: same, refusal: { challenge, body } }
}
