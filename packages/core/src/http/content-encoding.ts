/**
 * A body as it was before the service compressed it (RFC 9110 section 8.4.1).
 */
import type { ZlibOptions } from 'node:zlib'
import { mostBodyBytes } from './answer-bounds.ts'

/** What every request accepts. */
export const acceptedEncodings = 'gzip, compress, deflate, br'

/**
 * @param encoding - of the header `Content-Encoding`; one that is not known leaves the body as it is
 * @throws the error of `node:zlib`: `ERR_BUFFER_TOO_LARGE` for more than {@link mostBodyBytes}
 */
export function decompressed(body: Buffer, encoding = ''): Buffer {
  const name = encoding.toLowerCase()
  if (body.length === 0 || !/^(?:(?:x-)?(?:gzip|compress)|deflate|br)$/u.test(name)) return body
  // Loaded by the first body that is compressed.
  const zlib = process.getBuiltinModule('node:zlib')
  // A body that lacks its end is read as far as it goes: the tokens in it may be the only valid ones.
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants
  const limits = { maxOutputLength: mostBodyBytes }
  if (name === 'br') return zlib.brotliDecompressSync(body, { ...limits, finishFlush: BROTLI_OPERATION_FLUSH })
  const options: ZlibOptions = { ...limits, finishFlush: Z_SYNC_FLUSH }
  // Some servers send deflate without the two bytes of zlib before it.
  return name === 'deflate' && body[0] !== 0x78 ? zlib.inflateRawSync(body, options) : zlib.unzipSync(body, options)
}
