import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openCompiler } from '../../../tools/mutants/compiler.mjs'
import { mutated, mutationsOf, operators } from '../../../tools/mutants/mutations.mjs'
import { nearest, relatedTests } from '../../../tools/mutants/related-tests.mjs'
import { openResults } from '../../../tools/mutants/results.mjs'
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

  it('are run nearest first: its own, those whose helper imports it, what names its exports or shares its folder, what mentions it, the same of its importers', async () => {
    await file('src/pages/form.ts', 'export function readForm() {}\nexport const run = 1')
    await file('src/login.ts', "import { readForm } from './pages/form.ts'")
    await file('test/any.test.ts', 'run()')
    await file('test/form.test.ts', '')
    await file('test/import.test.ts', "import { x } from '../src/pages/form.ts'")
    await file('test/helper.ts', "const { readForm } = await import('../src/pages/form.ts')")
    await file('test/helped.test.ts', "import { x } from './helper.ts'")
    await file('test/names.test.ts', "import { readForm } from '../src/index.ts'")
    await file('test/login.test.ts', '')
    await file('test/mentions.test.ts', "it('shows the form')")
    await file('test/mentions-twice.test.ts', "it('shows the form: form')")
    await file('test/pages/other.test.ts', '')
    await file('test/no-test.ts', "import { x } from '../src/pages/form.ts'")
    const seconds = new Map([
      ['test/form.test.ts', 5],
      ['test/names.test.ts', 50],
    ])
    const tests = relatedTests(root, 'one', 'packages/one/src/pages/form.ts', (_folder, path) => seconds.get(path) ?? 1)
    expect(tests.map((test) => test.file)).toEqual([
      'test/import.test.ts',
      'test/form.test.ts',
      'test/helped.test.ts',
      'test/pages/other.test.ts',
      'test/names.test.ts',
      'test/mentions-twice.test.ts',
      'test/login.test.ts',
      'test/mentions.test.ts',
      'test/any.test.ts',
    ])
    expect(nearest(tests, 60)).toEqual(tests.slice(0, 7))
    expect(nearest([{ folder: 'packages/one', file: 'long', seconds: 99 }], 60)).toHaveLength(1)
  })

  async function file(path: string, content: string): Promise<void> {
    await mkdir(join(root, 'packages/one', path, '..'), { recursive: true })
    await writeFile(join(root, 'packages/one', path), content)
  }
})

describe('verdicts that are kept', () => {
  it('are found again where more tests would not change them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'verdicts-'))
    const path = join(folder, 'kept/mutants.jsonl')
    const mutants = mutationsOf('const x = [1, 1]').map((mutation, nth) => ({
      ...mutation,
      name: 'one',
      file: 'a.ts',
      nth,
    }))
    const outcomes = ['killed', 'survived', 'refused', 'undecided'] as const
    const first = openResults(path)
    for (const [index, outcome] of outcomes.entries()) first.keep(mutants[index]!, { outcome, why: 'because' })
    expect(mutants.map((mutant) => openResults(path).find(mutant)?.outcome)).toEqual([
      'killed',
      undefined,
      'refused',
      undefined,
    ])
    expect(mutants.filter((mutant) => openResults(path).isOpen(mutant))).toEqual([mutants[1], mutants[3]])
    await rm(folder, { recursive: true })
  })
})

describe('a change of a source', () => {
  it('is compiled as the build does it, or refused with what the compiler says', async () => {
    const root = fileURLToPath(new URL('../../../', import.meta.url))
    const compile = openCompiler(root)
    const file = 'packages/token-store-memory/src/index.ts'
    const source = await readFile(join(root, file), 'utf8')
    const built = await readFile(join(root, 'packages/token-store-memory/dist/index.js'), 'utf8')
    expect(compile('token-store-memory', file, source).javascript).toContain('export {')
    expect(built).toContain('export {')
    expect(compile('token-store-memory', file, `${source}\nconst x: number = ''`)).toEqual({
      problem: "Type 'string' is not assignable to type 'number'.",
    })
    expect(compile('token-store-memory', file, `${source}\nconst unused = ''`)).toEqual({
      javascript: expect.stringContaining('unused'),
    })
  })
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
