/** One refresh at a time in a process: nobody's documentation says so, but few would go without. */
export function singleFlight(work) {
  let underWay
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined
    })
    return underWay
  }
}
