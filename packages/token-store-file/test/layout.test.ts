/** Names in the store's folder: only those that it gives are its own, whole. */
import { spawnSync } from 'node:child_process'
import { describe, expect, it, jest } from '@jest/globals'
import { keyName, keyOf, parseTemporaryName, shardName, slotsIn, temporaryName } from '../src/layout.ts'
import { warnOfPlainText } from '../src/plain-text-warning.ts'
import { isAlive, thisProcess } from '../src/process-name.ts'
import { systemError } from './faulty-disk.ts'

const key = keyOf('ann@example.com')

describe('a name is the store’s own only as a whole', () => {
  it.each([
    ['3f', true],
    ['03', true],
    ['3', false],
    ['x3f', false],
    ['3fd', false],
    ['3F', false],
  ])('of a shard: %s: %s', (name, isOurs) => {
    expect(shardName.test(name)).toBe(isOurs)
  })

  it.each([
    [key, true],
    [key.slice(1), false],
    [`0${key}`, false],
    [`${key}0`, false],
    [`${key}.old`, false],
    [key.toUpperCase(), false],
  ])('of an account: %s: %s', (name, isOurs) => {
    expect(keyName.test(name)).toBe(isOurs)
  })

  it('of a version, the highest first', () => {
    const foreign = ['t.0', 't.01', 't.', 'xt.4', 't.5.bak', 't.6~', 'T.7', `t.1${'0'.repeat(15)}`]
    expect(slotsIn(['t.1', ...foreign, 't.10', `t.9${'0'.repeat(14)}`, 't.2'])).toEqual([900_000_000_000_000, 10, 2, 1])
  })

  it('of a temporary file', () => {
    const name = temporaryName(key, 8)
    expect(parseTemporaryName(name)).toMatchObject({ name, key, slot: 8, writer: { pid: process.pid } })
    for (const foreign of [
      `0${name}`,
      `.${name}`,
      `${name}0`,
      `${name}.bak`,
      name.replace('.8.', '.x.'),
      name.slice(1),
    ]) {
      expect(parseTemporaryName(foreign)).toBeUndefined()
    }
  })
})

it('a process is alive under its own name alone, or under its number where the system tells no more', () => {
  const { pid } = process
  expect(thisProcess().pid).toBe(pid)
  const gone = spawnSync(process.execPath, ['--version']).pid
  expect(
    [thisProcess(), { pid, started: '0' }, { pid: gone, started: '0' }, { pid, started: '1' }].map(isAlive),
  ).toEqual([true, true, false, false])
  // Another user's can't be told anything.
  const kill = jest.spyOn(process, 'kill')
  const told = ['EPERM', 'ESRCH'].map((code) => {
    kill.mockImplementation(() => {
      throw systemError(code, 'kill')
    })
    return isAlive(thisProcess())
  })
  kill.mockRestore()
  expect(told).toEqual([true, false])
})

it('of records that are not sealed is warned once', () => {
  const told = jest.spyOn(process, 'emitWarning').mockReturnValue()
  warnOfPlainText()
  warnOfPlainText()
  const { calls } = told.mock
  told.mockRestore()
  const message =
    'Token sets are stored unencrypted, in files that this user and root can read. Give fileTokenStore an encryptionKey to seal them.'
  expect(calls).toEqual([[message, { type: 'SecurityWarning', code: 'OWNER_SSO_UNSEALED' }]])
})
