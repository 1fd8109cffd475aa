/**
 * How much markup a page may have. Counted while it is parsed, so that the document never grows beyond the limits.
 */
import { DomHandler, Parser } from 'htmlparser2'

const mostTags = 5000
const mostInputs = 500
const mostAttributes = 20_000
const mostDepth = 256
/** The page itself and its templates: each is parsed on its own. */
const mostPieces = 100

/** What a page together with its templates has used so far. */
export class MarkupBudget {
  tags = 0
  inputs = 0
  attributes = 0
  #pieces = 0

  /** Parses a piece of markup within what is left of the budget; `undefined` as soon as it is too much. */
  parse(html: string): DomHandler['root'] | undefined {
    this.#pieces += 1
    if (this.#pieces > mostPieces) return undefined
    const handler = new CountingHandler(this)
    try {
      new Parser(handler).end(html)
      return handler.root
    } catch (error) {
      if (error === tooMuch) return undefined
      throw error
    }
  }
}

/** Builds the document, and stops the parser as soon as it is too much. */
class CountingHandler extends DomHandler {
  readonly #used: MarkupBudget
  #depth = 0

  constructor(used: MarkupBudget) {
    super()
    this.#used = used
  }

  /** Before its attributes are read. */
  onopentagname(name: string): void {
    if (name === 'input') this.#used.inputs += 1
    this.#used.tags += 1
    this.#depth += 1
    requireThat(this.#used.tags <= mostTags && this.#depth <= mostDepth && this.#used.inputs <= mostInputs)
  }

  onattribute(): void {
    this.#used.attributes += 1
    requireThat(this.#used.attributes <= mostAttributes)
  }

  override onclosetag(): void {
    this.#depth -= 1
    super.onclosetag()
  }
}

function requireThat(within: boolean): void {
  if (!within) throw tooMuch
}

/** Thrown through the parser to stop it. */
const tooMuch = new Error('too much markup')
