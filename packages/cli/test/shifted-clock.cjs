/** Loaded before the command: it lives `TEST_CLOCK_AHEAD` seconds later. */
const ahead = Number(process.env.TEST_CLOCK_AHEAD) * 1000
const now = Date.now.bind(Date)

globalThis.Date = class extends Date {
  constructor(...args) {
    super(...(args.length === 0 ? [now() + ahead] : args))
  }

  static now() {
    return now() + ahead
  }
}
