/**
 * How much markup a page may have. Counted while it is parsed, so that the document never grows beyond the limits.
 */
import { Parser, type Token, Tokenizer, type TreeAdapter } from 'parse5'
import { adapter, type Htmlparser2TreeAdapterMap as Nodes } from 'parse5-htmlparser2-tree-adapter'

const mostTags = 5000
const mostInputs = 500
const mostAttributes = 20_000
/** The parser compares each attribute's name with those before it in the tag. */
const mostAttributesOfATag = 1000
const mostDepth = 256
/** The page itself and its templates: each is parsed on its own. */
const mostPieces = 100

/** What a page together with its templates has used so far. */
export class MarkupBudget {
  tags = 0
  inputs = 0
  attributes = 0
  #pieces = 0

  /** Parses a document as the HTML standard has it, within what is left of the budget; `undefined` as soon as it is too much. */
  parse(html: string): Nodes['document'] | undefined {
    this.#pieces += 1
    if (this.#pieces > mostPieces) return undefined
    const parser: Parser<Nodes> = new Parser({ treeAdapter: countingAdapter(this) })
    parser.tokenizer = new CountingTokenizer(parser.options, parser)
    try {
      parser.tokenizer.write(html, true)
      return parser.document
    } catch (error) {
      // A character reference of hundreds of zeros (`&#x0…`) is a RangeError in parse5 7.3.
      if (error === tooMuch || error instanceof RangeError) return undefined
      throw error
    }
  }
}

function countingAdapter(used: MarkupBudget): TreeAdapter<Nodes> {
  let depth = 0
  const countTag = (name: string, attributes: readonly Token.Attribute[]): void => {
    if (name === 'input') used.inputs += 1
    used.tags += 1
    used.attributes += attributes.length
    requireThat(used.tags <= mostTags && used.inputs <= mostInputs && used.attributes <= mostAttributes)
  }
  return {
    ...adapter,
    createElement(name, namespace, attributes) {
      countTag(name, attributes)
      return adapter.createElement(name, namespace, attributes)
    },
    adoptAttributes(element, attributes) {
      countTag('', attributes)
      adapter.adoptAttributes(element, attributes)
    },
    // Text that a table may not hold is put before it: the place is searched for among all that stand there.
    insertTextBefore(parent, text, reference) {
      countTag('', [])
      adapter.insertTextBefore(parent, text, reference)
    },
    onItemPush() {
      depth += 1
      requireThat(depth <= mostDepth)
    },
    onItemPop() {
      depth -= 1
    },
  }
}

/* oxlint-disable no-underscore-dangle -- parse5's own name */
/** Stops within a tag: its element is made only at its end. */
class CountingTokenizer extends Tokenizer {
  protected override _leaveAttrName(): void {
    super._leaveAttrName()
    const { currentToken } = this
    requireThat(!(currentToken && 'attrs' in currentToken && currentToken.attrs.length > mostAttributesOfATag))
  }
}

function requireThat(within: boolean): void {
  if (!within) throw tooMuch
}

const tooMuch = new Error('too much markup')
