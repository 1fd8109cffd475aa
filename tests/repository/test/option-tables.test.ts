/** The tables of options in READMEs say what the code's comments say. */
import { expect, it } from '@jest/globals'
import { pages } from '../../../tools/options/tables.mjs'

/** The formatter fills cells up with spaces, and rules with dashes. */
const unpadded = (text: string): string => text.replaceAll(/ +\|/gu, ' |').replaceAll(/-{2,} \|/gu, '- |')

it.each(pages())('$path is up to date (node tools/options/tables.mjs writes it)', ({ text, right }) => {
  expect(unpadded(text)).toBe(unpadded(right))
})
