/**
 * The clocks of a worker, which the demo moves: imported before anything else, so that everybody in the process reads them.
 *
 * Timers are not moved: what waits for a time of day sees it at its next look.
 */
const wallNow = Date.now
const monotonicNow = performance.now.bind(performance)
let ahead = 0

Date.now = () => wallNow() + ahead
performance.now = () => monotonicNow() + ahead

/** Sets how many seconds they are ahead of the machine's. */
export function setAhead(seconds: number): void {
  ahead = seconds * 1000
}
