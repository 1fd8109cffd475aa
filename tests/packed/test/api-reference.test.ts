/** The API reference has a page for every public name, with what its doc comment says, and no link that leads nowhere. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from '@jest/globals'
import { entries } from '../../support/published.ts'
import { runInProject } from './empty-project.ts'

const reference = fileURLToPath(new URL('../../../docs/api', import.meta.url))
const pages = readdirSync(reference, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'))

/** Run where the packages are installed, with the compiler of there: what it takes for the public names of the modules. */
const publicNames = `
  const ts = require('typescript')
  const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }
  const fileOf = (entry) => ts.resolveModuleName(entry, process.cwd() + '/x.mts', options, ts.sys, undefined, undefined,
    ts.ModuleKind.ESNext).resolvedModule.resolvedFileName
  const entries = process.argv.slice(1)
  const program = ts.createProgram(entries.map(fileOf), options)
  const checker = program.getTypeChecker()
  const names = entries.flatMap((entry) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(fileOf(entry)))
    return checker.getExportsOfModule(module).map((name) => {
      const symbol = name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name
      const comment = ts.displayPartsToString(symbol.getDocumentationComment(checker))
      return { entry, name: name.name, declaredAs: symbol.name, comment }
    })
  })
  console.log(JSON.stringify(names))`

interface PublicName {
  readonly entry: string
  readonly name: string
  readonly declaredAs: string
  readonly comment: string
}

let names: readonly PublicName[] = []
beforeAll(async () => {
  const compiler = ['--input-type=commonjs', '-e', publicNames, ...entries]
  names = JSON.parse(await runInProject(process.execPath, compiler))
}, 60_000)

it.each(entries)('has a page for each name of %s, with its doc comment', (entry) => {
  const ours = names.filter((name) => name.entry === entry)
  expect(ours.length).toBeGreaterThan(0)
  const without = (is: (name: PublicName) => boolean): string[] =>
    ours.filter((each) => !is(each)).map(({ name }) => name)
  // What another of our packages declares has its page there.
  const pageOf = ({ declaredAs, comment }: PublicName): string | undefined =>
    [entry, ...entries]
      .map((module) => `/${module.replaceAll(/[@/]/gu, '_')}.${declaredAs}.html`)
      .map((end) => pages.find((file) => file.endsWith(end)))
      .filter((page) => page !== undefined)
      .toSorted((one, other) => Number(tells(other, comment)) - Number(tells(one, comment)))[0]
  expect({
    withoutComment: without(({ comment }) => /\w/u.test(comment)),
    withoutPage: without((name) => pageOf(name) !== undefined),
    withoutCommentThere: without((name) => tells(pageOf(name), name.comment)),
  }).toEqual({ withoutComment: [], withoutPage: [], withoutCommentThere: [] })
})

it('has no link within it that leads nowhere', () => {
  const broken = pages.flatMap((page) => {
    const targets = [...contentOf(page).matchAll(/(?:href|src)="(?!https?:|mailto:|#|data:)([^"#]+)(?:#([^"]*))?"/gu)]
    return targets
      .map(([, file = '', anchor]) => ({ file: resolve(reference, dirname(page), decodeURI(file)), anchor }))
      .filter(({ file, anchor }) => !existsSync(file) || (anchor !== undefined && !hasAnchor(file, anchor)))
      .map(({ file, anchor }) => `${page}: ${relative(reference, file)}#${anchor ?? ''}`)
  })
  expect(pages.length).toBeGreaterThan(entries.length)
  expect(broken).toEqual([])
})

it('opens with createSso: on its front page, and on the page of core; the errors come last', () => {
  const firstLink = /<a href="((?:functions|classes|interfaces|types|variables)\/[^"]+)"/u
  const namesOn = (page: string): string[] =>
    [...contentOf(page).matchAll(/<dt class="tsd-member-summary"[^]*?<a [^>]*>(?<name>[^]*?)<\/a>/gu)].map(
      ({ groups }) => groups?.['name']?.replaceAll(/<[^>]*>/gu, '') ?? '',
    )
  const onCore = namesOn('modules/_owner-sso_core.html')
  expect({ front: firstLink.exec(contentOf('index.html'))?.[1], first: onCore.slice(0, 2) }).toEqual({
    front: 'functions/_owner-sso_core.createSso.html',
    first: ['createSso', 'isCallback'],
  })
  const onManager = namesOn('modules/_owner-sso_token-manager.html')
  const errors = onManager.filter((name) => name.endsWith('Error'))
  expect(errors.length).toBeGreaterThan(10)
  expect(onManager.slice(-errors.length)).toEqual(errors)
  expect(namesOn('modules/_owner-sso_passport.html')[0]).toBe('OwnerSsoStrategy')
})

it('is generated, not committed', () => {
  expect(spawnSync('git', ['check-ignore', join(reference, 'index.html')], { cwd: reference }).status).toBe(0)
})

function contentOf(page: string): string {
  return readFileSync(join(reference, page), 'utf8')
}

function hasAnchor(file: string, anchor: string): boolean {
  return readFileSync(file, 'utf8').includes(`id="${decodeURI(anchor)}"`)
}

/** Whether a page has the words of a doc comment. */
function tells(page: string | undefined, comment: string): boolean {
  return wordsOf(page).includes(firstWords(comment))
}

/** The text of a page, letters and digits alone. */
function wordsOf(page: string | undefined): string {
  if (page === undefined) return ''
  return contentOf(page)
    .replaceAll(/<[^>]+>|&\w+;|&#\d+;/gu, ' ')
    .replaceAll(/\W+/gu, '')
}

/** So much of a doc comment as has no markup in it. */
function firstWords(comment: string): string {
  return (/^[^`{<&[*]+/u.exec(comment)?.[0] ?? '').slice(0, 60).replaceAll(/\W+/gu, '')
}
