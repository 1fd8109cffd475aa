/**
 * How much markup a page may have: counted while it is parsed, so that what is built stays as small.
 */
import { DomHandler, Parser } from 'htmlparser2'

const mostTags = 5000
const mostInputs = 500
const mostAttributes = 20_000
const mostDepth = 256
/** The page itself and its templates: each is parsed on its own. */
const mostPieces = 100

/** What is left for the rest of a page. */
export interface MarkupBudget {
  /** Spends the budget on a piece of markup, and gives its document; `undefined` as soon as it is too much. */
  parse(html: string): DomHandler['root'] | undefined
}

/** One budget for a page together with its templates. */
export function createMarkupBudget(): MarkupBudget {
  let tags = 0
  let inputs = 0
  let attributes = 0
  let pieces = 0
  return {
    parse(html) {
      pieces += 1
      if (pieces > mostPieces) return undefined
      let depth = 0
      const handler = new DomHandler()
      const counting = {
        onopentagname(name: string): void {
          if (name === 'input') inputs += 1
          requireThat(++tags <= mostTags && ++depth <= mostDepth && inputs <= mostInputs)
        },
        onattribute: (): void => requireThat(++attributes <= mostAttributes),
        onclosetag(): void {
          depth -= 1
          DomHandler.prototype.onclosetag.call(handler)
        },
      }
      try {
        new Parser(Object.assign(handler, counting)).end(html)
        return handler.root
      } catch (error) {
        if (error === tooMuch) return undefined
        throw error
      }
    },
  }
}

function requireThat(within: boolean): void {
  if (!within) throw tooMuch
}

/** Thrown through the parser to stop it. */
const tooMuch = new Error('too much markup')
