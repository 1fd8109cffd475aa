import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { documents, readDocument } from '../../support/code-blocks.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

describe.each(documents)('%s', (document) => {
  const text = readDocument(document)

  it('links to files that exist', () => {
    const inline = text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/gu)
    const named = text.matchAll(/^\[[^\]]+\]: (?!https?:)([^#\s]+)/gmu)
    const targets = [...inline, ...named].map(([, target]) => target ?? '')
    const missing = targets.filter((target) => !existsSync(resolve(root, dirname(document), target)))
    expect(missing).toEqual([])
  })

  it('uses every link that it names', () => {
    const names = [...text.matchAll(/^\[([^\]]+)\]: /gmu)].map(([, name]) => name)
    const isUsed = (name: string | undefined): boolean => text.replaceAll(`[${name}]: `, '').includes(`[${name}]`)
    expect(names.filter((name) => !isUsed(name))).toEqual([])
  })

  it('fetches no command by a name that is not ours', () => {
    expect(text.match(/npx owner-sso\S*/gu) ?? []).toEqual([])
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
