/** What of a text a recording may keep: words that every page could have, and nothing else. */
import { expect, it } from '@jest/globals'
import { firstUnknown, isKnown } from '../src/masking/vocabulary.ts'

it.each([
  ['', true],
  ['sign in', true],
  ['Sign In!', true],
  ["you're welcome", true],
  ['you’re welcome', true],
  ['welcomeWindow', true],
  ['welcomeX', false],
  ['goIn', true],
  ['12', true],
  ['1', true],
  ['123', false],
  ['12x', false],
  ['x12', false],
  ['word@word', false],
  ['welcome@', true],
  ['welcomeqz', false],
  ['qzwelcome', false],
])('%j is known: %s', (text, known) => {
  expect(isKnown(text)).toBe(known)
})

it.each([
  ['welcome qz7', 8],
  ['qz7 welcome', 0],
  ['write to ann@example.com', 9],
  ['write', -1],
])('the first unknown of %j stands at %i', (text, index) => {
  expect(firstUnknown(text)).toBe(index)
})
