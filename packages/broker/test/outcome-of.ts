/** What an act comes to. */

/** What it comes to; the error where it throws one. */
export function outcomeOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}

/** Whether it does not throw. */
export function isTaken(act: () => unknown): boolean {
  return !(outcomeOf(act) instanceof TypeError)
}
