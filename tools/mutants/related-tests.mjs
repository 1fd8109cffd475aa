/** Which tests to ask about a source file, and in which order. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'

/** Tests that live elsewhere and read the package's build, by the package's folder. */
const elsewhere = new Map([
  ['broker', ['tests/interop/test']],
  ['core', ['packages/express/test/calls', 'packages/passport/test']],
  [
    'emulator',
    ['tests/interop/test', 'packages/core/test/login', 'packages/core/test/steps', 'packages/core/test/http'],
  ],
  ['recorder', ['packages/emulator/test/recorder']],
  ['token-store-conformance', ['packages/token-store-memory/test', 'packages/token-store-file/test']],
])

/** What most tests import says nothing of what they are about. */
const importedByMost = new Set(['errors.ts', 'index.ts'])

/**
 * @typedef {object} Test
 * @property {string} folder - the package that it is run in, from the root
 * @property {string} file - its path in there
 * @property {number} seconds - how long it takes
 */

/** Helpers of tests lie beside them. */
const filesOfTests = /[/\\]test[/\\].+\.ts$/u

/** The rank of a test that nothing connects with the source. */
const farthest = 10

/**
 * @param {string} root - of the repository
 * @param {string} name - the package's folder
 * @param {string} source - path of the source file, from the root
 * @param {(folder: string, file: string) => number} durationOf - seconds that a test file takes
 * @returns {Test[]} what bears the file's name or imports it, then what has a helper that does, then what names one of its
 *   exports or lies in a folder of the same name, then what mentions its name; after each, the same of the files that import
 *   it; then the package's others, and those of other folders that read its build. Of two that are equally near, the shorter
 *   is first
 */
export function relatedTests(root, name, source, durationOf) {
  const home = `packages/${name}`
  const sources = importersOf(join(root, source), join(root, home, 'src'))
  const own = testFiles(root, `${home}/test`, home).map((test) => ({
    ...test,
    rank: rankOf(join(root, home, test.file), sources),
  }))
  const others = (elsewhere.get(name) ?? []).flatMap((place) =>
    testFiles(root, place, place.split('/').slice(0, 2).join('/')).map((test) => ({ ...test, rank: farthest + 1 })),
  )
  return [...own, ...others]
    .map((test) => ({ ...test, seconds: durationOf(test.folder, test.file) }))
    .toSorted((one, other) => one.rank - other.rank || one.seconds - other.seconds)
    .map(({ folder, file, seconds }) => ({ folder, file, seconds }))
}

/**
 * The first of them, as many as take so long together; one at least.
 *
 * @param {Test[]} tests
 * @param {number} limit - seconds
 */
export function nearest(tests, limit) {
  let sum = 0
  return tests.filter(({ seconds }, index) => {
    sum += seconds
    return index === 0 || sum <= limit
  })
}

/**
 * @param {string} test
 * @param {string[][]} sources - the source file; what imports it; what imports these
 */
function rankOf(test, sources) {
  const text = readFileSync(test, 'utf8')
  const ranks = sources.flatMap((files, distance) => files.map((file) => 2 * distance + nearness(test, text, file)))
  return Math.min(farthest, ...ranks)
}

/**
 * @param {string} test
 * @param {string} text - of the test
 * @param {string} source
 */
function nearness(test, text, source) {
  const stem = basename(source, '.ts')
  if (basename(test) === `${stem}.test.ts`) return 1
  if (!importedByMost.has(basename(source))) {
    const imported = importedBy(test)
    if (imported.includes(source)) return 1
    const helpers = imported.filter((file) => filesOfTests.test(file) && existsSync(file))
    if (helpers.some((helper) => importedBy(helper).includes(source))) return 1.5
  }
  if (basename(dirname(test)) === basename(dirname(source)) && basename(dirname(source)) !== 'src') return 2
  // A name of one short word, such as `run`, is in every test.
  const exported = readFileSync(source, 'utf8').matchAll(/^export (?:async )?(?:function|const|class) (\w{6,})/gmu)
  if ([...exported].some(([, word = '']) => new RegExp(`\\b${word}\\b`, 'u').test(text))) return 2
  const said = text.replaceAll(/^import .*$/gmu, '')
  const mentions = said.match(new RegExp(`\\b${stem.replaceAll('-', '[- ]')}\\b`, 'giu'))?.length ?? 0
  // What mentions it often is likelier to be about it.
  return mentions > 0 ? 2 + 1 / mentions : farthest
}

/**
 * @param {string} source
 * @param {string} folder - of the package's sources
 * @returns {string[][]} the source file itself, the files that import it, and those that import these
 */
function importersOf(source, folder) {
  const imports = filesBelow(folder, '.ts').map((file) => ({
    file,
    imported: importedBy(file),
  }))
  const importing = (files) =>
    imports
      .filter(
        ({ file, imported }) => !importedByMost.has(basename(file)) && imported.some((one) => files.includes(one)),
      )
      .map(({ file }) => file)
  const first = importing([source])
  return [[source], first, importing(first)]
}

/**
 * @param {string} root
 * @param {string} place - a folder of tests, from the root
 * @param {string} folder - the package that they are run in
 */
function testFiles(root, place, folder) {
  return filesBelow(join(root, place), '.test.ts').map((path) => ({
    folder,
    file: relative(join(root, folder), path).split(sep).join('/'),
  }))
}

/**
 * @param {string} file
 * @returns {string[]} the files that it imports by a path, at its beginning or later
 */
function importedBy(file) {
  return [...readFileSync(file, 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/gu)].map(([, path = '']) =>
    resolve(dirname(file), path),
  )
}

/**
 * @param {string} folder
 * @param {string} ending
 */
function filesBelow(folder, ending) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending) && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}
