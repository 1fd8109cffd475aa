import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const documents = markdownFiles(root)

describe.each(documents)('%s', (document) => {
  const text = readFileSync(join(root, document), 'utf8')

  it('links to files that exist', () => {
    const targets = [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/gu)].map(
      ([, target]) => target ?? '',
    )
    const missing = targets.filter((target) => !existsSync(resolve(root, dirname(document), target)))
    expect(missing).toEqual([])
  })

  it('names tests that exist, where it quotes one behind a link to its file', () => {
    // A quote that ends in … is the beginning of a name.
    const quotes = [...text.matchAll(/\]\(([^)\s]+\.test\.ts)\)\s“([^”]+?)(?: …)?”/gu)]
    const missing = quotes.filter(([, file = '', title = '']) => {
      const path = resolve(root, dirname(document), file)
      return !existsSync(path) || !readFileSync(path, 'utf8').includes(title)
    })
    expect(missing.map(([, file, title]) => `${file}: ${title}`)).toEqual([])
  })
})

/** Our own Markdown, from the root down. */
function markdownFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist', '.git', '.turbo', 'test-artefacts', 'api'].includes(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return markdownFiles(path)
    return entry.name.endsWith('.md') ? [relative(root, path)] : []
  })
}
