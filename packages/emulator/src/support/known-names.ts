/**
 * Names that somebody typed, held against those that there are: a mistyped one would be taken in silence. The rule of core, written
 * once more: what tests core shares no code with it.
 */

/**
 * A name whose value is `undefined` counts as left out.
 *
 * @param kind - what the names are, as the message calls them: `option`, `field`
 * @param prefix - path to them, with its dot
 * @throws {TypeError} A name is none of `known`; the message names it, and the one that was meant.
 */
export function checkNames(kind: string, prefix: string, values: object, known: readonly string[]): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || known.includes(name)) continue
    const meant = nearestName(name, known)
    const hint = meant === undefined ? '' : ` Did you mean ${prefix}${meant}?`
    throw new TypeError(`Unknown ${kind} ${prefix}${name}.${hint} There are ${known.join(', ')}`)
  }
}

/** Other capitals, or a few letters missing, added, changed or swapped. */
function nearestName(name: string, known: readonly string[]): string | undefined {
  for (const changes of [0, 1, 2, 3]) {
    const near = known.find(
      (one) => one.length >= 3 * changes && isWithin(changes, name.toLowerCase(), one.toLowerCase()),
    )
    if (near !== undefined) return near
  }
  return undefined
}

/** Whether so many changes of a letter make the one of the other. */
function isWithin(changes: number, one: string, other: string): boolean {
  if (one === other || changes === 0) return one === other
  let same = 0
  while (one[same] === other[same]) same += 1
  const [left, right] = [one.slice(same), other.slice(same)]
  const isSwapped = left[0] === right[1] && left[1] === right[0]
  return (
    isWithin(changes - 1, left.slice(1), right) ||
    isWithin(changes - 1, left, right.slice(1)) ||
    isWithin(changes - 1, left.slice(1), right.slice(1)) ||
    (isSwapped && isWithin(changes - 1, left.slice(2), right.slice(2)))
  )
}
