/**
 * The body of a request that has a small one, which is soon there: a token request, or a form.
 */
import type { IncomingMessage } from 'node:http'
import { startTimeLimit } from '@owner-sso/core'
import { RejectedCall } from './rejection.ts'

/** Bytes; a token request has some hundred, with a long token in it a few thousand. */
const longest = 16_384
/** Milliseconds. */
const patience = 10_000

/** Without the byte order mark that some programs put before their text. @throws RejectedCall where it is too long, or too slow */
export function bodyText(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const end = (): void => {
      endLimit()
      request.off('data', take).off('end', complete).off('close', breakOff).resume()
    }
    const stop = (why: RejectedCall): void => {
      end()
      reject(why)
    }
    const take = (chunk: Buffer): void => {
      length += chunk.length
      if (length > longest) stop(new RejectedCall('ERR_BROKER_BODY_TOO_LARGE'))
      else chunks.push(chunk)
    }
    const complete = (): void => {
      end()
      resolve(new TextDecoder().decode(Buffer.concat(chunks)))
    }
    const breakOff = (): void => stop(new RejectedCall('ERR_BROKER_MALFORMED_REQUEST'))
    const endLimit = startTimeLimit(patience, () => stop(new RejectedCall('ERR_BROKER_SLOW_BODY')))
    request.on('data', take).once('end', complete).once('close', breakOff)
  })
}
