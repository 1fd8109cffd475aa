import { describe, expect, test } from '@jest/globals'
import { flaw, type Operation } from '../src/history.ts'

const swap = (from: number, to: number, version: number): Operation => ({
  kind: 'swap',
  version,
  content: `record ${version}`,
  from,
  to,
})
const read = (from: number, to: number, version: number, content = version ? `record ${version}` : ''): Operation => ({
  kind: 'read',
  version,
  content,
  from,
  to,
})
const conflict = (from: number, to: number, expected: number): Operation => ({ kind: 'conflict', expected, from, to })

describe('the checker accepts', () => {
  test.each<[string, Operation[]]>([
    ['calls one after the other', [read(1, 2, 0), swap(3, 4, 1), read(5, 6, 1), swap(7, 8, 2), conflict(9, 10, 1)]],
    ['a read during a swap that sees the old record', [swap(1, 2, 1), swap(3, 6, 2), read(4, 5, 1)]],
    ['a read during a swap that sees the new record', [swap(1, 2, 1), swap(3, 6, 2), read(4, 5, 2)]],
    ['a loser of two swaps at once', [swap(1, 4, 1), conflict(2, 3, 0)]],
    ['a loser that was called first', [conflict(1, 4, 0), swap(2, 3, 1)]],
    ['a conflict before the expected version was written', [conflict(1, 3, 1), swap(2, 4, 1)]],
  ])('%s', (_name, history) => {
    expect(flaw(history)).toBeUndefined()
  })
})

describe('the checker rejects', () => {
  test.each<[string, Operation[], RegExp]>([
    ['two winners of one version', [swap(1, 4, 1), swap(2, 3, 1)], /written by two swaps/],
    ['a version over one that nobody wrote', [swap(1, 2, 1), swap(3, 4, 3)], /that nobody wrote/],
    ['a record from nowhere', [swap(1, 2, 1), read(3, 4, 1, 'other')], /not written as that version/],
    ['a read that goes back', [swap(1, 2, 1), swap(3, 4, 2), read(5, 6, 1)], /after version 2 was seen/],
    ['two reads that disagree', [swap(1, 2, 1), swap(3, 8, 2), read(4, 5, 2), read(6, 7, 1)], /after version 2/],
    ['a read before the write', [read(1, 2, 1), swap(3, 4, 1)], /after version 1 was seen/],
    ['a conflict for nothing', [swap(1, 2, 1), conflict(3, 4, 1), swap(5, 6, 2)], /although that version stood/],
    ['a conflict before two swaps', [swap(1, 2, 1), conflict(3, 5, 1), swap(6, 8, 2), swap(4, 9, 3)], /version 1 met/],
    ['a conflict on an empty store', [conflict(1, 2, 0)], /although that version stood/],
  ])('%s', (_name, history, words) => {
    expect(flaw(history)).toMatch(words)
  })
})
