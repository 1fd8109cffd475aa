/**
 * Loaded before the program: it lives `TEST_CLOCK_AHEAD` seconds later, and nine hours more with each SIGUSR2. With each
 * SIGHUP nine hours pass in which the clock on the wall is set back, to a minute later than before.
 */
let ahead = Number(process.env.TEST_CLOCK_AHEAD ?? 0) * 1000
let passed = 0
const now = Date.now.bind(Date)
const monotonic = performance.now.bind(performance)

performance.now = () => monotonic() + passed
process.on('SIGHUP', () => {
  passed += 9 * 3600 * 1000
  ahead += 60 * 1000
})

process.on('SIGUSR2', () => {
  ahead += 9 * 3600 * 1000
})

globalThis.Date = class extends Date {
  constructor(...args) {
    super(...(args.length === 0 ? [now() + ahead] : args))
  }

  static now() {
    return now() + ahead
  }
}
