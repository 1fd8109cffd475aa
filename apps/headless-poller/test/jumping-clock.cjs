/** Loaded before the program: it lives `TEST_CLOCK_AHEAD` seconds later, and nine hours more with each SIGUSR2. */
let ahead = Number(process.env.TEST_CLOCK_AHEAD ?? 0) * 1000
const now = Date.now.bind(Date)

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
