/** What the command line says of an error that nobody foresaw. */
import { describe, expect, it } from '@jest/globals'
import { failureOf } from '../src/failure.ts'

describe('an error that is not one of ours', () => {
  it.each([
    [new TypeError('something broke'), 'something broke'],
    ['a text that was thrown', 'a text that was thrown'],
    [undefined, 'undefined'],
  ])('%p is a bug, with a code of its own', (error, message) => {
    expect(failureOf(error)).toEqual({
      exitCode: 1,
      code: 'ERR_SSO_CLI_UNEXPECTED',
      message,
      next: expect.stringContaining('report it'),
    })
  })
})
