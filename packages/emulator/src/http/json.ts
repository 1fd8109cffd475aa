/**
 * JSON with whole numbers of any length, such as the ids of vehicles: JavaScript's own numbers are rounded beyond 2⁵³, so those
 * are bigints here.
 */
import { randomUUID } from 'node:crypto'

/** What no text of a client contains. */
const mark = randomUUID()
const marked = new RegExp(`"${mark}(-?\\d+)"`, 'gu')
const textOrNumber = /"(?:[^"\\]+|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/giu

/** As JSON.stringify, with bigints as numbers. @throws TypeError */
export function writeJson(value: unknown): string {
  const text: string | undefined = JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'bigint' ? `${mark}${each}` : each,
  )
  if (text === undefined) throw new TypeError('The body must be JSON')
  return text.replaceAll(marked, '$1')
}

/** As JSON.parse. @param long - makes something of a whole number that would be rounded. @throws SyntaxError */
export function readJson(text: string, long: (digits: string) => unknown = BigInt): unknown {
  const value: unknown = JSON.parse(text)
  if (!/\d{16}/u.test(text)) return value
  const markedText = text.replaceAll(textOrNumber, (each) =>
    /^-?\d+$/u.test(each) && !Number.isSafeInteger(Number(each)) ? `"${mark}${each}"` : each,
  )
  return JSON.parse(markedText, (_name, each: unknown) =>
    typeof each === 'string' && each.startsWith(mark) ? long(each.slice(mark.length)) : each,
  )
}
