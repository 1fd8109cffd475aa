/**
 * `npm run docs`: the site in tools/site/dist/site, made of the documents and of the doc comments that the published
 * packages ship. A link that leads nowhere is a failure. It needs no network.
 *
 * `--base /name/` is for a site that does not stand at the root of its host.
 */
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'vitepress'
import { writeApiReference } from './api-reference.mjs'
import { llmsText } from './llms.mjs'
import { documents, pageOf, render } from './pages.mjs'

const { values } = parseArgs({ options: { base: { type: 'string', default: '/' } } })
const folder = fileURLToPath(new URL('.', import.meta.url))
const [pages, site] = ['pages', 'site'].map((name) => join(folder, 'dist', name))

rmSync(join(folder, 'dist'), { recursive: true, force: true })
for (const document of documents) {
  const { text, pictures } = render(document)
  write(join(pages, pageOf(document)), text)
  for (const { from, to } of pictures) {
    mkdirSync(dirname(join(pages, to)), { recursive: true })
    copyFileSync(from, join(pages, to))
  }
}
await writeApiReference(join(pages, 'api'))
await build(folder, { base: values.base })
// Each page as plain Markdown too: guides/faq.md beside guides/faq.
cpSync(pages, site, { recursive: true })
writeFileSync(join(site, 'llms.txt'), llmsText(pages))

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
