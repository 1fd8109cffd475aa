/**
 * Any text at all, for property tests. fast-check's own unit `binary` draws the same, but first makes a table of all million
 * code points, which costs each test file three seconds.
 */
import fc from 'fast-check'

const codePoint = fc
  .oneof(fc.integer({ min: 0, max: 0xd7_ff }), fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }))
  .map((point) => String.fromCodePoint(point))

/** Strings of any code points but surrogates, shrunk towards few and low ones. */
export const anyText = (lengths: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: codePoint, ...lengths })
