/**
 * What is behind the masks of an exchange: kept apart from the log, bounded in bytes, gone with its exchange.
 */
import type { IncomingMessage } from 'node:http'
import { unmasked, type Fields, type Headers } from './masking.ts'
import type { ServiceResponse } from '../http/service-response.ts'

/** Of all exchanges together; about two thousand logins. */
const maxCharacters = 32 * 1024 ** 2
/** Of one body. */
const maxBodyCharacters = 64 * 1024

export interface RawExchange {
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly contentType: string
  body: string
  answer?: { readonly headers: ServiceResponse['headers']; readonly contentType: string; readonly body: string }
}

/** The same shape as what is masked, with the values in it. */
export interface ExchangeSecrets {
  readonly request: { readonly query: Fields; readonly headers: Headers; readonly body: Fields }
  readonly answer: { readonly headers: Headers; readonly body: Fields } | undefined
}

export interface RawExchanges {
  /** Keeps it, or keeps it anew after it grew; the oldest make room. */
  keep(id: number, raw: RawExchange): void
  read(id: number): ExchangeSecrets | undefined
  drop(id: number): void
  clear(): void
}

export function createRawExchanges(): RawExchanges {
  const kept = new Map<number, { readonly raw: RawExchange; readonly size: number }>()
  let total = 0

  function drop(id: number): void {
    total -= kept.get(id)?.size ?? 0
    kept.delete(id)
  }

  return {
    keep(id, raw) {
      drop(id)
      const size = sizeOf(raw)
      kept.set(id, { raw, size })
      total += size
      for (const oldest of kept.keys()) {
        if (total <= maxCharacters) return
        drop(oldest)
      }
    },
    read(id) {
      const raw = kept.get(id)?.raw
      if (!raw) return undefined
      const { url, headers, contentType, body, answer } = raw
      return {
        request: {
          query: unmasked.query(url.split(/\?(.*)/su)[1] ?? ''),
          headers: unmasked.requestHeaders(headers),
          body: unmasked.requestBody(contentType, body),
        },
        answer: answer && {
          headers: unmasked.answerHeaders(answer.headers),
          body: unmasked.answerBody(answer.contentType, answer.body),
        },
      }
    },
    drop,
    clear() {
      kept.clear()
      total = 0
    },
  }
}

/** As much of a body as is kept: a copy, since a slice of a huge string holds on to all of it. */
export function clipped(body: string): string {
  return body.length > maxBodyCharacters ? Buffer.from(body.slice(0, maxBodyCharacters)).toString() : body
}

function sizeOf({ url, headers, body, answer }: RawExchange): number {
  const answered = answer ? JSON.stringify(answer.headers).length + answer.body.length : 0
  return url.length + JSON.stringify(headers).length + body.length + answered
}
