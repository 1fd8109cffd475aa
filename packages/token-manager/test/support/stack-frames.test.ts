/** Where something of the application's failed, whatever realm its error is of. */
import { runInNewContext } from 'node:vm'
import { expect, it } from '@jest/globals'
import { stackFrames } from '../../src/index.ts'

it('has the frames of an error of any realm, and none of what is no error', () => {
  expect(stackFrames(new Error('hush'))).toMatch(/^at /u)
  expect(stackFrames(runInNewContext('new Error("hush")'))).toMatch(/^at /u)
  for (const none of [{ stack: 'at x:1:1' }, 'at x:1:1', null]) expect(stackFrames(none)).toBe('')
})
