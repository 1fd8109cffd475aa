/**
 * The checker: was this history of reads and swaps linearizable, that is, could each have happened in one instant
 * between its call and its answer?
 *
 * Versions make the question easy. A successful swap to `v` is the step from `v - 1` to `v`; a read of `v` lies between
 * that step and the next; a conflict lies anywhere but where its expected version stands. What remains to be checked is
 * that operations which did not overlap come in the order of the clock.
 */

/** One call that was answered. `from` and `to` are its place in the order of all calls and answers. */
export type Operation = { readonly from: number; readonly to: number } & (
  | { readonly kind: 'read'; readonly version: number; readonly content: string }
  | { readonly kind: 'swap'; readonly version: number; readonly content: string }
  | { readonly kind: 'conflict'; readonly expected: number }
)

/** The first thing that is wrong with a history, in words; `undefined` where it is linearizable. */
export function flaw(history: readonly Operation[]): string | undefined {
  return doubleWrite(history) ?? strangerRead(history) ?? disorder(history) ?? needlessConflict(history)
}

function doubleWrite(history: readonly Operation[]): string | undefined {
  const written = history.flatMap((operation) => (operation.kind === 'swap' ? [operation.version] : []))
  const twice = written.find((version, index) => written.indexOf(version) !== index)
  if (twice !== undefined) return `version ${twice} was written by two swaps: one of them is lost`
  const missing = written.toSorted((a, b) => a - b).find((version, index) => version !== index + 1)
  return missing === undefined ? undefined : `version ${missing} was written over a version that nobody wrote`
}

function strangerRead(history: readonly Operation[]): string | undefined {
  const contents = new Map([[0, '']])
  for (const operation of history) if (operation.kind === 'swap') contents.set(operation.version, operation.content)
  for (const operation of history) {
    if (operation.kind !== 'read' || contents.get(operation.version) === operation.content) continue
    return `a read of version ${operation.version} gave a record that was not written as that version`
  }
  return undefined
}

/** Two operations that did not overlap, in the wrong order. */
function disorder(history: readonly Operation[]): string | undefined {
  for (const later of history) {
    if (later.kind === 'conflict') continue
    // Before a swap to v, nobody can have seen more than v - 1.
    const most = later.kind === 'swap' ? later.version - 1 : later.version
    const seen = newest(history, later)
    if (seen > most) return `a ${later.kind} of version ${later.version} came after version ${seen} was seen`
  }
  return undefined
}

/** A conflict for which the expected version stood all the time. */
function needlessConflict(history: readonly Operation[]): string | undefined {
  for (const conflict of history) {
    if (conflict.kind !== 'conflict') continue
    const least = newest(history, conflict)
    const most = history
      .filter((operation) => operation.from > conflict.to && operation.kind !== 'conflict')
      .map((operation) => (operation.kind === 'swap' ? operation.version - 1 : versionOf(operation)))
      .reduce((a, b) => Math.min(a, b), Infinity)
    const highest = Math.min(most, begun(history, conflict))
    if (least === conflict.expected && highest === conflict.expected) {
      return `a swap over version ${conflict.expected} met a conflict although that version stood`
    }
  }
  return undefined
}

/** The highest version that anybody had seen for certain before this operation began. */
function newest(history: readonly Operation[], operation: Operation): number {
  return history.reduce((seen, other) => (other.to < operation.from ? Math.max(seen, versionOf(other)) : seen), 0)
}

/** The highest version that can have stood by the end of this operation. */
function begun(history: readonly Operation[], operation: Operation): number {
  return history
    .filter((other) => other.from < operation.to)
    .reduce((most, other) => Math.max(most, versionOf(other)), 0)
}

function versionOf(operation: Operation): number {
  return operation.kind === 'conflict' ? 0 : operation.version
}
