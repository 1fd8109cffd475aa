/** Which tests to ask about a source file, and in which order. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

/** Tests of a package that live with another one, which reads its build. */
const elsewhere = new Map([['recorder', ['packages/emulator/test/recorder']]])

/** What most tests import says nothing of what they are about. */
const importedByMost = new Set(['errors.ts', 'index.ts'])

/**
 * @param {string} root - of the repository
 * @param {string} name - the package's folder
 * @param {string} source - path of the source file, from the root
 * @param {boolean} [onlyNear] - leaves the third group out, where there is another
 * @returns {{ folder: string, files: string[] }[]} groups to run one after the other, none empty: what imports the file or
 *   bears its name; what names one of its exports, or lies in a folder of the same name; all others
 */
export function relatedTests(root, name, source, onlyNear = false) {
  const home = join('packages', name)
  const path = join(root, source)
  const tests = testFiles(join(root, home, 'test')).map((file) => ({
    folder: home,
    file: relative(join(root, home), file),
    rank: rankOf(file, path),
  }))
  for (const folder of elsewhere.get(name) ?? []) {
    const other = folder.split('/').slice(0, 2).join('/')
    for (const file of testFiles(join(root, folder)))
      tests.push({ folder: other, file: relative(join(root, other), file), rank: 3 })
  }
  const groups = [1, 2, 3].flatMap((rank) =>
    [...new Set(tests.map(({ folder }) => folder))].map((folder) => ({
      folder,
      rank,
      files: tests.filter((test) => test.rank === rank && test.folder === folder).map(({ file }) => file),
    })),
  )
  const present = groups.filter(({ files }) => files.length > 0)
  const near = present.filter(({ rank, folder }) => rank < 3 || folder !== home)
  return (onlyNear && near.length > 0 ? near : present).map(({ folder, files }) => ({ folder, files }))
}

/**
 * @param {string} test
 * @param {string} source
 */
function rankOf(test, source) {
  if (basename(test) === `${basename(source, '.ts')}.test.ts`) return 1
  const text = readFileSync(test, 'utf8')
  const imported = [...text.matchAll(/from '(\.[^']+)'/gu)].map(([, path = '']) => resolve(dirname(test), path))
  if (imported.includes(source) && !importedByMost.has(basename(source))) return 1
  if (basename(dirname(test)) === basename(dirname(source)) && basename(dirname(source)) !== 'src') return 2
  const exported = readFileSync(source, 'utf8').matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gmu)
  return [...exported].some(([, word = '']) => new RegExp(`\\b${word}\\b`, 'u').test(text)) ? 2 : 3
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function testFiles(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('node_modules'))
    .toSorted()
}
