/**
 * How much markup a page may have. Counted in one pass over its tags, before anything is built from them.
 */
import { Parser } from 'htmlparser2'

const mostTags = 5000
const mostInputs = 500
const mostAttributes = 20_000
const mostDepth = 256
/** The page itself and its templates: each is parsed on its own. */
const mostPieces = 100

/** What is left for the rest of a page. */
export interface MarkupBudget {
  /** Spends the budget on a piece of markup; `false` as soon as it is too much. */
  affords(html: string): boolean
}

/** One budget for a page together with its templates. */
export function createMarkupBudget(): MarkupBudget {
  let tags = 0
  let inputs = 0
  let attributes = 0
  let pieces = 0
  return {
    affords(html) {
      pieces += 1
      if (pieces > mostPieces) return false
      let depth = 0
      const parser = new Parser({
        onopentagname(name) {
          if (name === 'input') inputs += 1
          requireThat(++tags <= mostTags && ++depth <= mostDepth && inputs <= mostInputs)
        },
        onattribute: () => requireThat(++attributes <= mostAttributes),
        onclosetag: () => void (depth -= 1),
      })
      try {
        parser.end(html)
        return true
      } catch (error) {
        if (error === tooMuch) return false
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
