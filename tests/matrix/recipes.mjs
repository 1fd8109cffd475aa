/** The programs of the documents, which are what the matrix runs. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url)

/** The fenced block of a document behind the comment `<!-- MARK: NAME -->`. */
export function block(document, mark, name) {
  const text = readFileSync(fileURLToPath(new URL(document, root)), 'utf8')
  const fenced = new RegExp(
    `^<!-- ${mark}: ${name.replaceAll('.', '\\.')} -->\\s+(?:<!--.*-->\\s+)*\`\`\`\\w*\\n([\\s\\S]*?)^\`\`\`$`,
    'mu',
  )
  const [, code] = fenced.exec(text) ?? []
  if (code === undefined) throw new Error(`${document} has no block behind <!-- ${mark}: ${name} -->`)
  return code
}

/** A recipe of docs/guides/frameworks.md. */
export const recipe = (name) => block('docs/guides/frameworks.md', 'recipe', name)

/** The quick starts of the README, and of `@owner-sso/passport`. */
export const quickStarts = {
  core: block('README.md', 'runs', 'first.mjs'),
  passport: block('packages/passport/README.md', 'runs', 'passport.mjs'),
}

/** The same program as a CommonJS module: what a reader who has `require` makes of it. */
export function asCommonJs(program) {
  const required = program.replaceAll(
    /^import (?:(\w+)(?:, )?)?(\{[^}]*\})? ?from ('[^']+')$/gmu,
    (_line, whole, some, from) => `const ${whole ?? some.replaceAll(' as ', ': ')} = require(${from})`,
  )
  return required.includes('await ') ? `void (async () => {\n${required}\n})()\n` : required
}
