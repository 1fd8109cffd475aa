/**
 * The tables of options in READMEs and guides, from the comments at the options' types: `node tools/options/tables.mjs` writes
 * them. A page says where one stands, and what it is made of:
 *
 *     <!-- options: src/options.ts StrategyOptions -->
 *
 * A row is made of a comment's first paragraph; the sentence that begins with "Default" is the default.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const marked = /(<!-- options: (\S+) (\w+) -->\n\n)(?:\|[^\n]*\n)*/gu

/** Pages with such a table: how each is, and how it has to be. */
export function pages() {
  const readmes = readdirSync(join(root, 'packages')).map((name) => join('packages', name, 'README.md'))
  const guides = readdirSync(join(root, 'docs/guides')).map((name) => join('docs/guides', name))
  const paths = [...readmes, ...guides]
  return paths.flatMap((path) => {
    if (!existsSync(join(root, path))) return []
    const text = readFileSync(join(root, path), 'utf8')
    const right = text.replaceAll(
      marked,
      (_, marker, source, type) => marker + table(join(dirname(path), source), type),
    )
    return text.includes('<!-- options: ') ? [{ path, text, right }] : []
  })
}

function table(source, type) {
  const code = readFileSync(join(root, source), 'utf8')
  const [, body] = new RegExp(`\\nexport interface ${type}\\b[^]*?\\{\\n([^]*?)\\n\\}`, 'u').exec(code) ?? []
  if (body === undefined) throw new Error(`${source} has no interface ${type}`)
  const options = [...body.matchAll(/\/\*\*([^]*?)\*\/\s*readonly (\w+)(\??):/gu)]
  const rows = options.map(([, comment, name, mayBeLeftOut]) => row(comment, name, mayBeLeftOut === '?'))
  return ['| option | default | what it is |', '| - | - | - |', ...rows, ''].join('\n')
}

function row(comment, name, isOptional) {
  const [summary] = comment
    .replaceAll(/\n *\* ?/gu, '\n')
    .trim()
    .split('\n\n')
  const sentence = summary.replaceAll(/\s+/gu, ' ')
  const [said = '', named = 'none'] = / ?\bDefault:? (.*?)\.(?= |$)/u.exec(sentence) ?? []
  const cells = [`\`${name}\``, isOptional ? named : 'required', sentence.replace(said, '').trim()]
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, right } of pages()) {
    writeFileSync(join(root, path), right)
    execFileSync('npx', ['oxfmt', '--write', path], { cwd: root })
  }
}
