/** The table of docs/guides/where-tokens-live.md: which store for which deployment, and a test for everything that it survives. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { readDocument } from '../../support/code-blocks.ts'
import { published } from '../../support/published.ts'

const docs = fileURLToPath(new URL('../../../docs/', import.meta.url))
const [, table = ''] =
  /^\| your deployment .*\n\| -.*\n((?:\|.*\n)+)/mu.exec(readDocument('docs/guides/where-tokens-live.md')) ?? []
const rows = table
  .trim()
  .split('\n')
  .map((row) => row.split('|').map((cell) => cell.trim()))
  .map(([, deployment = '', store = '', survives = '']) => ({ deployment, store, survives }))

/** Links with the name of a test as their title. */
const shownBy = (cell: string): { file: string; name: string }[] =>
  [...cell.matchAll(/\]\((\S+) '([^']+)'\)/gu)].map(([, file = '', name = '']) => ({ file, name }))

describe.each(rows)('$deployment', ({ store, survives }) => {
  it('has a store that exists', () => {
    const places = [...store.matchAll(/\]\(([^)]+)\)/gu)].map(([, place = '']) => join(docs, place))
    expect(places.length).toBeGreaterThan(0)
    // A package, or a guide.
    expect(places.filter((place) => !existsSync(place.endsWith('.md') ? place : join(place, 'package.json')))).toEqual(
      [],
    )
  })

  it('says what it survives, and each entry names a test that exists', () => {
    const tests = shownBy(survives)
    expect(tests.length).toBeGreaterThan(0)
    expect(tests).toHaveLength(survives.split(/, (?=not \[|\[)/u).length)
    const missing = tests.filter(({ file, name }) => {
      const path = resolve(docs, file)
      return !existsSync(path) || !readFileSync(path, 'utf8').includes(name)
    })
    expect(missing).toEqual([])
  })
})

it('no store is missing', () => {
  const stores = published.map(({ folder }) => folder).filter((folder) => folder.startsWith('token-store-'))
  expect(stores.filter((folder) => !table.includes(`(../packages/${folder})`))).toEqual([])
})
