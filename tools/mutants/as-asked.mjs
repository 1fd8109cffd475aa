/** Runs the test files in the order in which Jest was given them. */
export default class AsAsked {
  /** @type {string[]} */
  #order

  constructor({ globalConfig }) {
    this.#order = globalConfig.nonFlagArgs
  }

  sort(tests) {
    const place = ({ path }) => this.#order.findIndex((file) => path.endsWith(file))
    return [...tests].toSorted((one, other) => place(one) - place(other))
  }

  /** Needed by Jest, which would keep the durations here. */
  cacheResults() {}
}
