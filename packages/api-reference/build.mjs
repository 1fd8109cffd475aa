/**
 * `npm run docs`: the API reference in docs/api, made of the declarations and doc comments that the published packages ship.
 * A link that leads nowhere is a failure; packages/workspace/test looks whether every public name has a doc comment.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, Comment } from 'typedoc'

const packages = fileURLToPath(new URL('..', import.meta.url))
const entries = readdirSync(packages).flatMap(entriesOf)

const app = await Application.bootstrap({
  name: 'owner-sso',
  entryPoints: entries.map(({ file }) => file),
  tsconfig: fileURLToPath(new URL('tsconfig.json', import.meta.url)),
  readme: 'none',
  disableSources: true,
  hideGenerator: true,
  sort: ['kind', 'source-order'],
  validation: { notExported: false, notDocumented: false, invalidLink: true },
})
const reference = await app.convert()
if (reference === undefined) process.exit(1)
for (const module of reference.children) {
  const { name, description } = entries.find(({ file }) => file.startsWith(join(packages, module.name)))
  module.name = name
  module.comment = new Comment([{ kind: 'text', text: description }])
}
app.validate(reference)
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1)
await app.generateDocs(reference, fileURLToPath(new URL('../../docs/api', import.meta.url)))

/** What can be imported of a published package: its name, its declarations, and what the package says it is. */
function entriesOf(folder) {
  const manifest = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8'))
  if (manifest.private) return []
  return Object.entries(manifest.exports)
    .filter(([, { types }]) => types !== undefined)
    .map(([path, { types }]) => ({
      name: manifest.name + path.slice(1),
      description: manifest.description,
      file: join(packages, folder, types),
    }))
}
