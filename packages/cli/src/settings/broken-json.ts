/**
 * Where text stops being JSON. Node tells the place of some mistakes alone, and shows the text around others, which may be a secret.
 */

/** The line, from 1, of the first mistake in text that is no JSON. */
export function brokenLine(text: string): number {
  const problem = problemOf(text)
  const place = / at position (\d+)/u.exec(problem)?.[1]
  const end = place === undefined ? lengthToMistake(text, problem) : Number(place)
  return text.slice(0, end).split('\n').length
}

/** Of a mistake that Node names without its place: what is cut off before it is only incomplete. */
function lengthToMistake(text: string, problem: string): number {
  if (!problem.startsWith('Unexpected token')) return text.trimEnd().length
  let [whole, broken] = [0, text.length]
  while (broken - whole > 1) {
    const middle = Math.floor((whole + broken) / 2)
    if (problemOf(text.slice(0, middle)).startsWith('Unexpected token')) broken = middle
    else whole = middle
  }
  return whole
}

function problemOf(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return String(error instanceof Error ? error.message : error)
  }
}
