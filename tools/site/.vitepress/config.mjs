/** How VitePress shows the pages that build.mjs has put into dist/pages. */
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { groups, internals, pageOf, titleOf, version } from '../pages.mjs'

const link = (page) => `/${page.replace(/(?:index)?\.md$/u, '')}`
const item = (document) => ({ text: titleOf(document), link: link(pageOf(document)) })
const section = ({ title, documents }, collapsed) => ({ text: title, collapsed, items: documents.map(item) })

const api = fileURLToPath(new URL('../dist/pages/api/', import.meta.url))
const modules = readdirSync(api, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md') && file !== 'index.md')
  .map((file) => ({ text: file.replace('.md', '').replace('@owner-sso/', ''), link: link(`api/${file}`) }))
  .toSorted((one, other) => one.text.localeCompare(other.text))
const reference = { text: 'API reference', collapsed: true, items: [{ text: 'Overview', link: '/api/' }, ...modules] }

export default {
  title: 'owner-sso',
  description: 'Sign a vehicle owner in, and call the owner API in their name, from any Node application.',
  lang: 'en',
  srcDir: 'dist/pages',
  outDir: 'dist/site',
  cacheDir: 'dist/cache',
  cleanUrls: true,
  // Vite's own list begins with browsers of 2020, for which its esbuild no longer translates all that is written here.
  vite: { build: { target: 'es2022' } },
  markdown: {
    // As the places where the documents are read otherwise do it: their links hold here too.
    anchor: { slugify: slugOf },
    config: (md) => {
      withoutInterpolation(md)
      betweenWords(md)
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        _render: searched,
        // What to do comes before what it is called.
        miniSearch: { options: { processTerm: termOf }, searchOptions: { boostDocument: weightOf, fuzzy: likenessOf } },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Errors', link: '/reference/errors' },
      { text: 'Command line', link: '/packages/cli' },
      { text: 'API', link: '/api/' },
      { text: 'Internals', link: '/internals/architecture', activeMatch: '^/internals/' },
      { text: `Version ${version}`, link: '/reference/supported-versions', activeMatch: '^$' },
    ],
    sidebar: {
      '/internals/': [section(internals)],
      '/': [...groups.map((group) => section(group, false)), reference],
    },
  },
}

/** What the search reads of a page: nothing of the internals, and code without its colours. */
function searched(text, env, md) {
  if (env.relativePath.startsWith('internals/')) return ''
  const { highlight } = md.options
  md.options.highlight = (code) => `<pre>${md.utils.escapeHtml(code)}</pre>`
  try {
    return md.render(text, env)
  } finally {
    md.options.highlight = highlight
  }
}

function weightOf(page) {
  if (/\/guides\/|\/reference\/errors/u.test(page)) return 2
  return page.includes('/api/') ? 0.2 : 1
}

/** A word as it is looked for. Words that every question has find nothing. The browser gets this function as text. */
function termOf(word) {
  const term = word.toLowerCase()
  return /^(?:an?|any|are|can|do|does|how|i|is|it|my|of|the|to|what|where|which|why)$/u.test(term) ? null : term
}

/** Letters of a word that may differ, as a part of its length: none of a short word, which is soon another. */
function likenessOf(term) {
  return term.length > 5 && 0.2
}

function slugOf(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** Two braces are two braces, not an expression of Vue. */
function withoutInterpolation(md) {
  for (const kind of ['text', 'code_inline', 'text_special']) {
    const rule = md.renderer.rules[kind] ?? md.renderer.rules.text
    md.renderer.rules[kind] = (...args) => rule(...args).replaceAll('{{', '&#123;&#123;')
  }
}

/** A name in capitals, such as an error's code, may break between its words. */
function betweenWords(md) {
  const rule = md.renderer.rules.code_inline
  md.renderer.rules.code_inline = (...args) =>
    rule(...args).replaceAll(/\b[A-Z]+(?:_[A-Z]+)+\b/gu, (name) => name.replaceAll('_', '_<wbr>'))
}
