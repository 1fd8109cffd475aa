import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { mutated, mutationsOf, operators } from '../../../tools/mutants/mutations.mjs'
import { relatedTests } from '../../../tools/mutants/related-tests.mjs'
import { shuffled } from '../../../tools/mutants/sample.mjs'

/** Every changed source of a snippet, by the kind of change. */
function changes(source: string, operator: string): string[] {
  return mutationsOf(source)
    .filter((mutation) => mutation.operator === operator)
    .map((mutation) => mutated(source, mutation))
}

describe('the mutants of a source', () => {
  it.each<[string, string, string[]]>([
    ['condition', 'if (a > b) c', ['if (!(a > b)) c', 'if (true) c', 'if (false) c']],
    ['condition', 'const x = !a', ['const x = a']],
    ['comparison', 'const x = a < b', ['const x = a <= b']],
    ['comparison', 'const x = a !== b', ['const x = a === b']],
    ['arithmetic', 'const x = a + b', ['const x = a - b']],
    ['logic', 'const x = a && b', ['const x = a || b']],
    ['logic', 'const x = a ?? b', ['const x = a']],
    ['await', 'await a', ['a']],
    ['statement', 'a(); b = 1', ['; b = 1']],
    ['anchor', 'const x = /^a$/u', ['const x = /a$/u', 'const x = /^a/u']],
    ['anchor', String.raw`const x = /[^a]\$/u`, []],
    ['number', 'const x = 1_000', ['const x = 1001', 'const x = 999']],
    ['number', 'const x = 0', ['const x = 1', 'const x = (-1)']],
    ['absent', 'const x = { ...(a && { b }) }', ['const x = {  }', 'const x = { ...(a && {  }) }']],
    ['string', "const x = 'one'", ["const x = ''"]],
  ])('%s: %s', (operator, source, expected) => {
    expect(changes(source, operator)).toEqual(expected)
  })

  it.each([
    "import a from 'a'",
    "export { a } from 'a'",
    "type A = 'a' | 1",
    "throw new SomeError('a sentence for people')",
    "const x = import('a')",
    "const x: 'a' = y",
  ])('there is none of %s', (source) => {
    expect(mutationsOf(source)).toEqual([])
  })

  it('tell where they are and what they change, on one line', () => {
    expect(mutationsOf('const a = 1\n  if (\n    a < 2) b()')[2]).toMatchObject({
      operator: 'condition',
      line: 3,
      code: 'a < 2) b()',
      change: 'a < 2 → !(a < 2)',
    })
  })

  it('are of kinds that --only knows', async () => {
    const source = await readFile(new URL('../../../packages/core/src/steps/callback.ts', import.meta.url), 'utf8')
    const kinds = new Set(mutationsOf(source).map(({ operator }) => operator))
    expect([...kinds].filter((kind) => !operators.includes(kind))).toEqual([])
  })
})

describe('a sample', () => {
  const numbers = Array.from({ length: 100 }, (_, index) => index)

  it('is the same for the same seed, another for another, and leaves nothing out', () => {
    expect(shuffled(numbers, 7)).toEqual(shuffled(numbers, 7))
    expect(shuffled(numbers, 7)).not.toEqual(shuffled(numbers, 8))
    expect(shuffled(numbers, 7).toSorted((a, b) => a - b)).toEqual(numbers)
    expect(shuffled(numbers, 1).slice(0, 5)).toEqual([7, 80, 20, 74, 98])
  })
})

describe('the tests of a source', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'related-'))
  })
  afterEach(() => rm(root, { recursive: true }))

  it('are run nearest first: its own, what names its exports or shares its folder, then the rest', async () => {
    await file('src/pages/form.ts', 'export function readForm() {}')
    await file('test/form.test.ts', '')
    await file('test/import.test.ts', "import { x } from '../src/pages/form.ts'")
    await file('test/names.test.ts', "import { readForm } from '../src/index.ts'")
    await file('test/pages/other.test.ts', '')
    await file('test/rest.test.ts', '')
    await file('test/no-test.ts', "import { x } from '../src/pages/form.ts'")
    const near = [
      { folder: 'packages/one', files: ['test/form.test.ts', 'test/import.test.ts'] },
      { folder: 'packages/one', files: ['test/names.test.ts', 'test/pages/other.test.ts'] },
    ]
    const source = 'packages/one/src/pages/form.ts'
    expect(relatedTests(root, 'one', source)).toEqual([
      ...near,
      { folder: 'packages/one', files: ['test/rest.test.ts'] },
    ])
    expect(relatedTests(root, 'one', source, true)).toEqual(near)
  })

  async function file(path: string, content: string): Promise<void> {
    await mkdir(join(root, 'packages/one', path, '..'), { recursive: true })
    await writeFile(join(root, 'packages/one', path), content)
  }
})

describe('the equivalent mutants', () => {
  it('are each told by file, line and change, with a reason, and are still there', async () => {
    const path = new URL('../../../tools/mutants/equivalent.json', import.meta.url)
    const known: { file: string; code: string; change: string; why: string }[] = JSON.parse(
      await readFile(path, 'utf8'),
    )
    for (const { file, code, change, why } of known) {
      const source = await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8')
      const same = mutationsOf(source).filter((mutation) => mutation.code === code && mutation.change === change)
      expect({ file, code, change, count: same.length }).toEqual({ file, code, change, count: 1 })
      expect(why.length).toBeGreaterThan(20)
    }
  })
})
