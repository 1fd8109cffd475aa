/** What is told of the matrix is what it found. */
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { groups } from '../run-rows.mjs'
import { tableInDocument, tableOf } from '../supported-versions.mjs'

interface Result {
  readonly group: string
  readonly row: string
  readonly outcome: string
  readonly covers: Readonly<Record<string, string>>
}

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8')
const results: Result[] = JSON.parse(read('../result.json'))

it('result.json has every row of the matrix, and no other, and all of them passed', () => {
  const rows = groups.flatMap(({ title, rows: each }) => each.map(({ name }) => `${title}: ${name}`))
  expect(results.map(({ group, row }) => `${group}: ${row}`)).toEqual(rows)
  expect(results.filter(({ outcome }) => outcome !== 'ok')).toEqual([])
})

it('docs/reference/supported-versions.md has the table that follows from it', () => {
  expect(tableInDocument()).toContain(tableOf(results))
})

it('every recipe of docs/guides/frameworks.md is run by a row', () => {
  const sources = readdirSync(fileURLToPath(new URL('../rows', import.meta.url))).map((name) => read(`../rows/${name}`))
  const recipes = [...read('../../../docs/guides/frameworks.md').matchAll(/<!-- recipe: ([\w-]+) -->/gu)].map(
    ([, name]) => name,
  )
  expect(recipes.length).toBeGreaterThan(10)
  expect(recipes.filter((name) => !sources.join('\n').includes(`'${name}'`))).toEqual([])
})
