/**
 * Clocks of a worker that the test can move: imported before anything else, so that everybody in the process reads them.
 *
 * Timers are not moved: what waits for a time of day sees it at its next look.
 */
const moved = { wall: 0, monotonic: 0 }
/** What the machine's clocks showed when these were stopped. */
let stopped
const { now: wallNow } = Date
const monotonicNow = performance.now.bind(performance)

Date.now = () => (stopped?.wall ?? wallNow()) + moved.wall
performance.now = () => (stopped?.monotonic ?? monotonicNow()) + moved.monotonic

/** Milliseconds ahead of the machine's clocks. */
export function setClocks({ wall, monotonic }) {
  Object.assign(moved, { wall, monotonic })
}

export function moveClocks({ wall = 0, monotonic = 0 }) {
  moved.wall += wall
  moved.monotonic += monotonic
}

export function stopClocks() {
  stopped = { wall: wallNow(), monotonic: monotonicNow() }
}

/** They go on from where they stood. */
export function startClocks() {
  moveClocks({ wall: stopped.wall - wallNow(), monotonic: stopped.monotonic - monotonicNow() })
  stopped = undefined
}
