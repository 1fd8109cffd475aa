import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { tokenTrace } from '../../src/proxy/token-trace.ts'

const token = `${'header.payload'.repeat(20)}.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ`

it('finds the token in a body, however it is cut into pieces', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string(),
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }),
      (before, after, sizes) => {
        const body = Buffer.from(before + token + after)
        const { inBody } = tokenTrace(token)
        let found = false
        for (let at = 0, n = 0; at < body.length; n += 1) {
          const size = sizes[n % sizes.length]!
          found = inBody(body.subarray(at, at + size)) || found
          at += size
        }
        expect(found).toBe(true)
      },
    ),
  )
})

it('finds nothing in a body without it', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 80 })), (chunks) => {
      const { inBody } = tokenTrace(token)
      expect(chunks.some((chunk) => inBody(Buffer.from(chunk)))).toBe(false)
    }),
  )
})

it('finds nothing in two pieces that have its halves apart', () => {
  const { inBody } = tokenTrace(token)
  const half = token.length - 16
  expect(inBody(Buffer.from(token.slice(0, half)))).toBe(false)
  expect(inBody(Buffer.from('-'))).toBe(false)
  expect(inBody(Buffer.from(token.slice(half)))).toBe(false)
})

it('finds the token in a header', () => {
  const { inText } = tokenTrace(token)
  expect(inText(`Bearer ${token}`)).toBe(true)
  expect(inText('Bearer other')).toBe(false)
  expect([inText(token.slice(-32)), inText(token.slice(-31))]).toEqual([true, false])
})

it('does not look for a text so short that it would be found by chance', () => {
  const { inBody, inText } = tokenTrace('short')
  expect(inBody(Buffer.from('a short story'))).toBe(false)
  expect(inText('a short story')).toBe(false)
  const found = ['x'.repeat(15), 'x'.repeat(16)].map((text) => tokenTrace(text))
  expect(found.map((trace) => trace.inText('x'.repeat(32)))).toEqual([false, true])
  expect(found.map((trace) => trace.inBody(Buffer.alloc(32, 'x')))).toEqual([false, true])
})
