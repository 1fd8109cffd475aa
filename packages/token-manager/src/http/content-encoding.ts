/**
 * A body as it was before the service compressed it (RFC 9110 section 8.4.1).
 */
import type { ZlibOptions } from 'node:zlib'
import { mostBodyBytes } from './answer-bounds.ts'

/** What every request accepts. */
export const acceptedEncodings = 'gzip, compress, deflate, br'

/**
 * @param encoding - of the header `Content-Encoding`; one that is not known leaves the body as it is
 * @param mayLackEnd - a body without its end is read as far as it goes
 * @throws the error of `node:zlib`: `ERR_BUFFER_TOO_LARGE` for more than {@link mostBodyBytes}, `Z_BUF_ERROR` for a missing end
 */
export function decompressed(body: Buffer, encoding = '', mayLackEnd = false): Buffer {
  const name = encoding.toLowerCase()
  if (body.length === 0 || !/^(?:(?:x-)?(?:gzip|compress)|deflate|br)$/u.test(name)) return body
  // Loaded by the first body that is compressed.
  const zlib = process.getBuiltinModule('node:zlib')
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants
  const flush = name === 'br' ? BROTLI_OPERATION_FLUSH : Z_SYNC_FLUSH
  const options: ZlibOptions = { maxOutputLength: mostBodyBytes, ...(mayLackEnd && { finishFlush: flush }) }
  if (name === 'br') return zlib.brotliDecompressSync(body, options)
  // Some servers send deflate without the two bytes of zlib before it.
  return name === 'deflate' && body[0] !== 0x78 ? zlib.inflateRawSync(body, options) : zlib.unzipSync(body, options)
}
