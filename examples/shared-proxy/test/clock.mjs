/**
 * Clocks of an instance that the test can move: imported before anything else, so that everybody in the process reads them.
 *
 * Timers are not moved: what waits for a time of day sees it at its next look.
 */
const { now: wallNow } = Date
const monotonicNow = performance.now.bind(performance)
let ahead = 0

Date.now = () => wallNow() + ahead
performance.now = () => monotonicNow() + ahead

process.on('message', ({ pass }) => {
  ahead += pass * 1000
  process.send?.({ passed: pass })
})
process.channel?.unref()
