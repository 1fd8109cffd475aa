/**
 * The API reference: one page for each module that applications can import, made of the declarations and doc comments that
 * the published packages ship. A link that leads nowhere is a failure; tests/packed/test looks whether every public name
 * has a doc comment.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, Comment, CommentTag, Converter, ReflectionKind } from 'typedoc'

const packages = fileURLToPath(new URL('../../packages', import.meta.url))
/** Names that a package's index has under a comment that says so: applications seldom call them. */
const shared = 'For adapters and stores'
const entries = dependenciesFirst(readdirSync(packages)).flatMap(entriesOf)

/** Writes it into a folder, as Markdown. */
export async function writeApiReference(folder) {
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    name: 'API reference',
    entryPoints: entries.map(({ file }) => file),
    tsconfig: fileURLToPath(new URL('tsconfig.json', import.meta.url)),
    outputs: [{ name: 'markdown', path: folder }],
    readme: fileURLToPath(new URL('front-page.md', import.meta.url)),
    mergeReadme: true,
    entryFileName: 'index',
    router: 'module',
    parametersFormat: 'table',
    useHTMLAnchors: true,
    excludeExternals: true, // what every Error has
    hideBreadcrumbs: true,
    hidePageHeader: true,
    disableSources: true,
    hideGenerator: true,
    sort: ['kind'],
    kindSortOrder: ['Module', 'Function', 'Class', 'Interface', 'TypeAlias', 'Variable'],
    groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables', 'Errors', 'References', shared],
    validation: { notExported: false, notDocumented: false, invalidLink: true },
  })
  // Before links are resolved, so that a doc comment can name a module as an import does.
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children) {
      const { name, description, source } = entries.find((entry) => entry.file.startsWith(join(packages, module.name)))
      // In the order of the package's index, its table of contents; what it exports with a star comes last.
      const [forAll, forAdapters = ''] = readFileSync(source, 'utf8').split(/^\/\/ .*\bWhat .* share\.$/mu)
      const words = forAll.match(/\w+/gu)
      const placeOf = (child) => (words.includes(child.name) ? words.indexOf(child.name) : words.length)
      module.children?.sort((one, other) => placeOf(one) - placeOf(other))
      for (const child of module.children ?? []) {
        if (new RegExp(`\\b${child.name}\\b`, 'u').test(forAdapters)) putInto(shared, child)
      }
      module.name = name
      module.comment = new Comment([{ kind: 'text', text: description }])
    }
    // What can go wrong is looked up by those who met it, and read first by nobody.
    for (const { name, comment } of project.getReflectionsByKind(ReflectionKind.Class)) {
      if (name.endsWith('Error')) comment.blockTags.push(groupTag('Errors'))
    }
  })
  const reference = await app.convert()
  if (reference === undefined) throw new Error('The API reference could not be made')
  app.validate(reference)
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('The API reference has mistakes')
  await app.generateOutputs(reference)
}

function putInto(group, reflection) {
  for (const { comment } of [reflection, ...(reflection.signatures ?? [])]) comment?.blockTags.push(groupTag(group))
}

function groupTag(group) {
  return new CommentTag('@group', [{ kind: 'text', text: group }])
}

/** A name that one package hands on from another has its page where it is declared: the module that is converted first. */
function dependenciesFirst(folders) {
  const ordered = new Set()
  const add = (folder) => {
    const { dependencies = {} } = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8'))
    for (const other of folders) if (other !== folder && `@owner-sso/${other}` in dependencies) add(other)
    ordered.add(folder)
  }
  for (const folder of folders) add(folder)
  return [...ordered]
}

/** What applications can import of a published package: its name, its declarations, their source, and what the package says it is. */
function entriesOf(folder) {
  const manifest = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8'))
  if (manifest.private) return []
  return Object.entries(manifest.exports)
    .filter(([path, { types }]) => types !== undefined && !['./support', './http'].includes(path))
    .map(([path, { types }]) => ({
      name: manifest.name + path.slice(1),
      description: manifest.description,
      file: join(packages, folder, types),
      source: join(packages, folder, types.replace('/dist/', '/src/').replace('.d.ts', '.ts')),
    }))
}
