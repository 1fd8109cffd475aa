/**
 * Rules about names: every account name is one account, whatever characters it has.
 */
import assert from 'node:assert/strict'
import { applied, isConflict, record, same, writeId } from './records.ts'
import type { RuleGroup } from './rule.ts'

/** Names that a path, a key, a pattern, a collation or a plain object would confuse. */
export const oddNames: readonly string[] = [
  'ann@example.com',
  'Ann@example.com',
  ' ann@example.com',
  'ann@example.com ',
  'ann@example.com\n',
  'ann+tag@example.com',
  // The same letter composed and decomposed: two names.
  'j\u00F6rg@example.com',
  'jo\u0308rg@example.com',
  '车主@例子.中国',
  '🚗🔑',
  '.',
  '..',
  '../ann@example.com',
  '/etc/passwd',
  'a/b',
  'a\\b',
  'C:\\con',
  'nul.txt',
  'a:b',
  '{a}b',
  'a}b{',
  '*',
  '?[a-z]',
  '%2e%2e%2f',
  '%s%d',
  "'; drop table accounts; --",
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '0',
  'undefined',
  'x'.repeat(4096),
  `${'x'.repeat(4095)}y`,
]

export const isolation: RuleGroup = {
  name: 'account names',
  rules: {
    'keeps accounts apart, whatever their names': async ({ store }) => {
      for (const name of oddNames) assert.equal(await store.read(name), undefined, `${label(name)} exists already`)
      for (const name of oddNames) await applied(store, name, 0, record(name))
      for (const name of oddNames) {
        const stored = await store.read(name)
        same(stored?.record, record(name), `${label(name)} has another account's record`)
        assert.equal(stored?.version, 1, `${label(name)} has another account's version`)
      }
    },
    'never takes two names that are not Unicode for one: it keeps them apart or refuses them': async ({ store }) => {
      const [first, second] = ['lone \uD800', 'lone \uD801']
      try {
        await applied(store, first, 0, record(first))
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        return // Refused, which is as safe.
      }
      assert.equal(await store.read(second), undefined, 'a name with another lone surrogate has the same record')
    },
    'takes the same write id on two accounts for two writes': async ({ store }) => {
      const id = writeId()
      await applied(store, 'a@example.com', 0, record('a'), id)
      await applied(store, 'b@example.com', 0, record('b'), id)
      same((await store.read('b@example.com'))?.record, record('b'))
    },
    'counts the versions of each account by itself': async ({ store }) => {
      await applied(store, 'a@example.com', 0, record('a1'))
      await applied(store, 'a@example.com', 1, record('a2'))
      assert.ok(isConflict(await store.swap('b@example.com', 2, record('b'), writeId())))
      assert.equal((await applied(store, 'b@example.com', 0, record('b1'))).version, 1)
    },
  },
}

function label(name: string): string {
  return JSON.stringify(name.slice(0, 40))
}
