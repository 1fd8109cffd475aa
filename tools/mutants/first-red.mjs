/** A test environment of Jest's in which nothing runs after the first test that is red. */
import { TestEnvironment } from 'jest-environment-node'

export default class FirstRed extends TestEnvironment {
  #isRed = false

  /** @param {import('jest-environment-node').Circus.Event} event */
  handleTestEvent(event) {
    if (event.name === 'test_start' && this.#isRed) event.test.mode = 'skip'
    if (event.name === 'test_done' && event.test.errors.length > 0) this.#isRed = true
  }
}
