/** The README of each published package, as a registry shows it: alone, with nothing of the repository around it. */
import { isBuiltin } from 'node:module'
import { existsSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { codeBlocksOf, documents, readDocument } from '../../support/code-blocks.ts'
import { published } from '../../support/published.ts'
import { installed } from './empty-project.ts'

describe.each(published)('the README of $name', ({ name, folder, keywords = [] }) => {
  const document = `packages/${folder}/README.md`
  const text = readDocument(document)

  it('says how to install the package', () => {
    expect(packagesToInstall(text).has(name)).toBe(true)
  })

  it('names everything that a piece of code imports in an install line before it', () => {
    const missing = codeBlocksOf(document).flatMap(({ line, code }) => {
      const before = packagesToInstall(text.split('\n').slice(0, line).join('\n'))
      return importedPackages(code).filter((imported) => !before.has(imported))
    })
    expect(missing).toEqual([])
  })

  it('links to what is in the package, or to documents, which a release turns into addresses', () => {
    const targets = [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/gu)].map(([, target = '']) =>
      normalize(target),
    )
    const isThere = (target: string): boolean =>
      target.startsWith('..')
        ? documents.includes(join('packages', folder, target))
        : existsSync(join(installed(name), target))
    expect(targets.filter((target) => !isThere(target))).toEqual([])
  })

  it('is found by keywords', () => {
    expect(keywords).toEqual(expect.arrayContaining(['sso', 'oauth2', 'vehicle-owner']))
  })
})

/** The packages of all install lines. */
function packagesToInstall(text: string): Set<string> {
  const lines = text.match(/^(?: {4})?npm install .*$/gmu) ?? []
  const words = lines.flatMap((line) => line.replace(/#.*/u, '').trim().split(/\s+/u).slice(2))
  // A package may stand there with a version.
  return new Set(words.filter((word) => !word.startsWith('-')).map((word) => word.replace(/(?<=.)@.*/u, '')))
}

/** Those of a registry: `@scope/name/path` is in `@scope/name`. */
function importedPackages(code: string): string[] {
  const names = Array.from(code.matchAll(/\b(?:from|import)\s+'([^'.][^']*)'/gu), ([, specifier = '']) => specifier)
  const packages = names.map((specifier) =>
    specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/'),
  )
  return packages.filter((specifier) => !isBuiltin(specifier))
}
