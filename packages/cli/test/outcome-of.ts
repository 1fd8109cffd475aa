/** What an act comes to. */
import { expect } from '@jest/globals'
import { CommandError } from '../src/command-error.ts'

export const refused = 'refused'

/** What it comes to, or that it is refused with words for a person. */
export function outcomeOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return refusalOf(error)
  }
}

export function refusalOf(error: unknown): string {
  expect(error).toBeInstanceOf(CommandError)
  return refused
}
