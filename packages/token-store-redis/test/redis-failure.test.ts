/** What Redis says, and what the store makes of it; and which values are records. */
import { describe, expect, it } from '@jest/globals'
import { StoreError } from '@owner-sso/core'
import { decode, encode, keyOf } from '../src/record-value.ts'
import { withinDeadline } from '../src/redis-failure.ts'

const words =
  'NOAUTH WRONGPASS NOPERM OOM MISCONF NOREPLICAS WRONGTYPE READONLY LOADING MASTERDOWN CLUSTERDOWN TRYAGAIN BUSY MOVED'

/** What the command's error becomes. */
async function meaning(error: unknown): Promise<string> {
  const command = async (): Promise<never> => {
    throw error
  }
  try {
    return await withinDeadline(command)
  } catch (failure) {
    if (!(failure instanceof StoreError)) throw failure
    return `${failure.reason}: ${failure.message.replace('secret', 'NOT TO BE SHOWN')}`
  }
}

describe('an answer of Redis', () => {
  it('means what it did in the last release', async () => {
    const meanings = words.split(' ').map(async (word) => [word, await meaning(new Error(`${word} secret`))])
    expect(Object.fromEntries(await Promise.all(meanings))).toMatchSnapshot()
  })

  it('is known by its first word alone', async () => {
    const unknown = await meaning(new Error('x'))
    expect(unknown).toMatch(/^unavailable: Redis can’t be reached/u)
    for (const message of ['xOOM secret', 'an OOM', 'OOMs', 'OOM: secret', 'oom', ''])
      expect(await meaning(new Error(message))).toBe(unknown)
    expect([await meaning('OOM secret'), await meaning(null)]).toEqual([unknown, unknown])
    const full = await meaning(new Error('OOM'))
    expect(full).toMatch(/^write-failed: /u)
    expect(await meaning(new Error('OOM. Secret'))).toBe(full)
  })

  it('is a permission where a script lacks it, in the words of each version', async () => {
    const denied = await meaning(new Error('NOPERM secret'))
    expect(await meaning(new Error("ERR The user executing the script can't run this"))).toBe(denied)
    expect(await meaning(new Error('ERR ACL failure in script: secret'))).toBe(denied)
    expect(await meaning(new Error('x ERR ACL failure in script'))).not.toBe(denied)
  })

  it.each(['OOM secret', 'secret'])('%j has the system’s code for its cause, and no words', async (message) => {
    const error = Object.assign(new Error(message), { code: 'ECONNRESET', syscall: 'read' })
    await expect(withinDeadline(() => Promise.reject(error))).rejects.toMatchObject({
      name: 'StoreError',
      cause: { message: 'read ECONNRESET', code: 'ECONNRESET' },
    })
  })

  it('is not what a program did wrong', async () => {
    const wrong = new TypeError('x')
    await expect(withinDeadline(() => Promise.reject(wrong))).rejects.toBe(wrong)
  })
})

describe('a value', () => {
  const key = keyOf('p:', 'ann')
  const record = { schema: 1, state: 'signed-out', generation: 1 } as const
  const value = encode('ann', 7, record, 'a "write"\n')

  it('is read as it was written', () => {
    expect(decode(value, key)).toEqual({ version: 7, writeId: 'a "write"\n', record, account: 'ann' })
    expect(decode(encode('ann', 9_007_199_254_740_991, record, ''), key).version).toBe(9_007_199_254_740_991)
  })

  it.each([
    ['of another account', encode('bob', 7, record, 'w')],
    ['with a head', ` ${value}`],
    ['of another format', value.replace('/1 ', '/2 ')],
    ['of version 0', value.replace(' 7 ', ' 0 ')],
    ['of a version with a zero before it', value.replace(' 7 ', ' 07 ')],
    ['of a version with 17 digits', value.replace(' 7 ', ' 10000000000000000 ')],
    ['without a name of the write', value.replace(/"[^]*?"\n\{/u, '7\n{')],
    ['without a record', `owner-sso/1 7 "w"\n{"account":"ann"}`],
    ['with a list for a record', `owner-sso/1 7 "w"\n{"account":"ann","record":[]}`],
    ['with null for a record', `owner-sso/1 7 "w"\n{"account":"ann","record":null}`],
    ['without an account', `owner-sso/1 7 "w"\n{"record":{}}`],
    ['cut', value.slice(0, -1)],
    ['of null', `owner-sso/1 7 "w"\nnull`],
    ['empty', ''],
  ])('%s is none', (_what, other) => {
    expect(() => decode(other, key)).toThrow(expect.objectContaining({ reason: 'corrupt' }))
  })

  it('has a key that tells nothing of the account', () => {
    expect(key).toMatch(/^p:\{[\da-f]{64}\}$/u)
    for (const account of ['\ud800', 7 as never]) expect(() => keyOf('', account)).toThrow(TypeError)
  })
})
