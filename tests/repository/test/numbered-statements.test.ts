/** The numbers of docs/internals/reliability.md: each that is used is defined there, and each that is defined is proven by a test that names it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { readDocument } from '../../support/code-blocks.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const document = 'docs/internals/reliability.md'
const text = readDocument(document)
const links = new Map([...text.matchAll(/^\[([^\]]+)\]: (\S+)$/gmu)].map(([, name, path = '']) => [name, path]))
const rows = [...text.matchAll(/^\| ([A-Z]\d{1,2}) .*\|([^|]*)\|$/gmu)].map(([, id = '', shownBy = '']) => ({
  id,
  shownBy: [...shownBy.matchAll(/\[([^\]]+)\]/gu)].map(([, name]) => links.get(name) ?? ''),
}))

it('has each number once', () => {
  const ids = rows.map(({ id }) => id)
  expect(ids.length).toBeGreaterThan(100)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
})

describe.each(rows)('$id', ({ id, shownBy }) => {
  it('is in a test that its row links to', () => {
    const named = shownBy.map((path) => readFileSync(join(root, dirname(document), path), 'utf8'))
    expect(named.some((source) => numbersIn(source).includes(id))).toBe(true)
  })
})

it('defines every number that a source, a test or a document uses', () => {
  const defined = new Set(rows.map(({ id }) => id))
  const unknown = ['packages', 'apps', 'tests']
    .flatMap(sourcesIn)
    .flatMap((file) =>
      numbersIn(commentsAndTitlesOf(readFileSync(join(root, file), 'utf8'))).map((id) => `${id} in ${file}`),
    )
    .filter((use) => !defined.has(use.split(' ')[0] ?? ''))
  expect(unknown).toEqual([])
})

/** Numbers in a text, those of a span such as `S25–S27` included. */
function numbersIn(source: string): string[] {
  const spans = [...source.matchAll(/\b([A-NS])(\d{1,2})–\1(\d{1,2})\b/gu)]
  const within = spans.flatMap(([, letter = '', from, to]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => `${letter}${Number(from) + index}`),
  )
  return [...within, ...(source.match(/\b[A-NS]\d{1,2}\b/gu) ?? [])]
}

/** Where numbers are used: in brackets or at the head of a comment or of a test's name. Icons and samples have others. */
function commentsAndTitlesOf(source: string): string {
  const comments = source.match(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gmu) ?? []
  const titles = [...source.matchAll(/\b(?:describe|it|test)(?:\.each\([^`]*?\))?\(\s*(['"`])(.*?)\1/gu)].map(
    ([, , title]) => title,
  )
  const named = [...comments, ...titles]
    .join('\n')
    .match(
      /\((?:reliability )?(?:[A-NS]\d{1,2}[,–; ]*)+\)|\b[A-NS]\d{1,2}: |\b(?:statements?|scenarios?) [A-NS]\d{1,2}[^.)]*/gu,
    )
  return (named ?? []).join('\n')
}

function sourcesIn(group: string): string[] {
  const folders = readdirSync(join(root, group)).flatMap((name) =>
    ['src', 'test', 'inspector'].map((part) => join(group, name, part)),
  )
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
    )
    .filter((path) => /\.(?:ts|tsx|mjs)$/u.test(path))
}
