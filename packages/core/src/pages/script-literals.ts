/**
 * Values that a page's scripts carry: `var transaction_id = "…"`, `{ "_csrf": "…" }`. Recorded pages have them there alone.
 */

/** Comments and strings as wholes, so that nothing in them is taken for code; names; the signs that assign a value; all else. */
const token =
  /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|(?<text>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\[^])*`?)|(?<name>[\w$]+)|(?<sign>[:=]+)|(?<other>[^\s])/gu

const mostLetters = 1024

/** The values that scripts give to a name, in order: texts of letters, digits and signs, none of them empty. */
export function scriptLiterals(scripts: readonly string[], isName: (name: string) => boolean): string[] {
  return scripts.flatMap((script) => [...literalsIn(script, isName)])
}

function* literalsIn(script: string, isName: (name: string) => boolean): Generator<string> {
  let name: string | undefined
  let isGiven = false
  for (const { groups = {} } of script.matchAll(token)) {
    const { text, name: word, sign, other } = groups
    const isComment = text === undefined && word === undefined && sign === undefined && other === undefined
    // `window["_csrf"] = …` names it as well.
    if (isComment || other === ']') continue
    const value = isGiven && text !== undefined ? valueOf(text) : undefined
    if (value !== undefined) yield value
    isGiven = name !== undefined && isName(name) && (sign === '=' || sign === ':')
    name = word ?? text?.slice(1, -1)
  }
}

/** A quoted text without its quotes and escapes; `undefined` where that is no value of ours. */
function valueOf(quoted: string): string | undefined {
  if (quoted.length > mostLetters || !/^(["'`]).*\1$/su.test(quoted)) return undefined
  const value = quoted
    .slice(1, -1)
    .replaceAll(/\\(?:u([\da-f]{4})|x([\da-f]{2})|(.))/giu, (_, four?: string, two?: string, sign?: string) =>
      sign === undefined ? String.fromCodePoint(Number.parseInt(four ?? two ?? '', 16)) : sign,
    )
  return /^[\x21-\x7e]+$/u.test(value) ? value : undefined
}
