/**
 * A lint step: constants are written in camelCase, as every other name. One in UPPER_CASE fails.
 *
 * `node tools/lint/constant-case.mjs [ROOT]`
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('../../', import.meta.url)))
const problems = ['packages', 'internal', 'examples'].flatMap(sourcesIn).flatMap(problemsIn)
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)

function problemsIn(file) {
  const names = readFileSync(file, 'utf8').matchAll(/^(?:export )?const ([A-Z][A-Z\d]*(?:_[A-Z\d]+)*)\b/gmu)
  return Array.from(names, ([, name]) => `${relative(root, file)} has a constant ${name}: constants are in camelCase.`)
}

function sourcesIn(group) {
  const parent = join(root, group)
  if (!existsSync(parent)) return []
  return readdirSync(parent)
    .flatMap((name) => [join(parent, name, 'src'), join(parent, name, 'inspector')])
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => join(folder, path)))
    .filter((path) => /\.(?:ts|tsx)$/u.test(path))
}
