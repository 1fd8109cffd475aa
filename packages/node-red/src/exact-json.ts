/**
 * JSON whose whole numbers stay what they are. JavaScript rounds those beyond 2⁵³, such as the id of a vehicle: a call with a
 * rounded one is about another vehicle, or none.
 */

const textOrNumber = /"(?:[^"\\]+|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/giu

/** @returns what a JSON text says, with long whole numbers as texts; what is no JSON, as it came */
export function parsed(text: string): unknown {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  return JSON.parse(text.replace(textOrNumber, (each) => (isRounded(each) ? `"${each}"` : each)))
}

/** @throws TypeError that names the first number which can't be what was meant */
export function serialized(value: unknown): string {
  return JSON.stringify(value, (name, each: unknown) => {
    requireExact(name === '' ? 'msg.payload' : `“${name}” in msg.payload`, each)
    return each
  })
}

/** @throws TypeError */
export function requireExact(name: string, value: unknown): void {
  if (typeof value !== 'number' || (Number.isFinite(value) && !isBeyond(value))) return
  throw new TypeError(
    `${name} is a number that JavaScript can’t hold exactly. Give it as a text (of a vehicle: its id_s).`,
  )
}

const isRounded = (written: string): boolean => /^-?\d+$/u.test(written) && isBeyond(Number(written))

const isBeyond = (value: number): boolean => Number.isInteger(value) && !Number.isSafeInteger(value)
