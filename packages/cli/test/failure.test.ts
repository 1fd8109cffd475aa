/** What the command line says of an error that nobody foresaw. */
import { describe, expect, it } from '@jest/globals'
import { RefreshBudgetError } from '@owner-sso/core'
import { failureOf } from '../src/failure.ts'

describe('a refresh for which the budget has no place', () => {
  it('says when to try again', () => {
    const failure = failureOf(new RefreshBudgetError(Date.now() / 1000 + 120))
    expect(failure).toMatchObject({ exitCode: 7, code: 'ERR_SSO_REFRESH_BUDGET' })
    expect(failure.next).toMatch(/^Try again in \d min/u)
  })
})

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
