/** The site's table of contents for programs that read: https://llmstxt.org. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { groups, internals, pageOf, titleOf } from './pages.mjs'

/** @param {string} pages - the folder of the pages in Markdown */
export function llmsText(pages) {
  const api = readdirSync(join(pages, 'api'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.md'),
  )
  const sections = [
    ...groups.map(sectionOf),
    `## API reference\n\n${api.map((file) => `- [${file.replace('.md', '')}](api/${file})`).join('\n')}`,
    sectionOf({ ...internals, title: 'Optional' }), // what the format calls a section that may be left out
  ]
  const [, summary] = /\*\*(.+)\*\*/u.exec(readFileSync(join(pages, 'index.md'), 'utf8'))
  return `# owner-sso\n\n> ${summary}\n\n${sections.join('\n\n')}\n`
}

function sectionOf({ title, documents }) {
  const lines = documents.map((document) => `- [${titleOf(document)}](${pageOf(document)})`)
  return `## ${title}\n\n${lines.join('\n')}`
}
