/**
 * A page with everything masked in it that is not made of known words: texts, values, addresses, names; its markup stays.
 */
import { QuoteType, Tokenizer } from 'htmlparser2'
import { maskAddress, maskName, maskValue } from './field-masks.ts'
import { mask, respelled, type Marked, type Masking } from './masking.ts'
import { maskProgram, maskText } from './text-mask.ts'

/** What stands in the page from here to there, masked. */
interface Piece {
  readonly start: number
  readonly end: number
  readonly marked: Marked
}

interface Attribute {
  readonly name: string
  /** Where its value stands; entities are decoded in `value`. */
  readonly start: number
  end: number
  value: string
}

/** Text in a row, with where each of its characters stands. */
interface TextRun {
  text: string
  readonly starts: number[]
  end: number
}

const addressAttributes = new Set(['action', 'formaction', 'href', 'src'])
const nameAttributes = new Set(['name', 'id', 'for', 'form'])
const buttonTypes = new Set(['submit', 'button', 'reset'])
/** Behind the name of an attribute that has a value. */
const valueOpening = /\s*=\s*["']?/uy
/** Templates and comments hold markup, which may hold more of them. */
const maxDepth = 4

export function maskHtml(masking: Masking, source: string, depth = 0): Marked {
  const pieces: Piece[] = []
  let tag = ''
  let attributes: Attribute[] = []
  let run: TextRun | undefined

  function endRun(): void {
    if (run) pieces.push(maskRun(run))
    run = undefined
  }
  function maskRun({ text, starts, end }: TextRun): Piece {
    const [start = end] = starts
    const written = (from: number, to: number): string => source.slice(starts[from] ?? end, starts[to] ?? end)
    return { start, end, marked: maskContent(text, written) }
  }
  function maskContent(text: string, written: (from: number, to: number) => string): Marked {
    if (tag === 'style') return mask(masking, 'style', text)
    if (tag !== 'script') return maskText(masking, text, written)
    const isTemplate = /html|template/iu.test(valueOf('type') ?? '')
    return isTemplate && depth < maxDepth ? maskHtml(masking, text, depth + 1) : maskProgram(masking, text)
  }
  function valueOf(name: string): string | undefined {
    return attributes.find((attribute) => attribute.name === name)?.value
  }
  function addText(text: string, start: number, end: number): void {
    if (run && run.end !== start) endRun()
    run ??= { text: '', starts: [], end }
    for (let index = 0; index < text.length; index += 1) run.starts.push(start + index)
    run.text += text
    run.end = end
  }
  function endTag(): void {
    for (const attribute of attributes) {
      const { start, end, value } = attribute
      const marked = maskAttribute(attribute)
      const plain = source.slice(start, end) === value
      pieces.push({ start, end, marked: plain ? marked : respelled(marked, 'html') })
    }
  }
  function maskAttribute({ name, value }: Attribute): Marked {
    if (addressAttributes.has(name)) return maskAddress(masking, value)
    if (nameAttributes.has(name)) return maskName(masking, value)
    const isShown = tag !== 'input' || buttonTypes.has(valueOf('type')?.toLowerCase() ?? '')
    return name === 'value' && !isShown
      ? maskValue(masking, valueOf('name') ?? 'value', value)
      : maskText(masking, value)
  }

  const tokenizer = new Tokenizer(
    {},
    {
      onopentagname(start, end) {
        endRun()
        tag = source.slice(start, end).toLowerCase()
        attributes = []
      },
      onattribname(from, end) {
        const name = source.slice(from, end).toLowerCase()
        valueOpening.lastIndex = end
        valueOpening.test(source)
        const start = valueOpening.lastIndex
        attributes.push({ name, start, end: start, value: '' })
      },
      onattribdata(start, end) {
        const attribute = attributes.at(-1)
        if (attribute) attribute.value += source.slice(start, end)
      },
      onattribentity(codepoint) {
        const attribute = attributes.at(-1)
        if (attribute) attribute.value += String.fromCodePoint(codepoint)
      },
      onattribend(quote, end) {
        const attribute = attributes.at(-1)
        if (!attribute || quote === QuoteType.NoValue) return
        attribute.end = Math.max(quote === QuoteType.Unquoted ? end : end - 1, attribute.start)
      },
      onopentagend: endTag,
      onselfclosingtag: endTag,
      onclosetag() {
        endRun()
        tag = ''
      },
      ontext: (start, end) => addText(source.slice(start, end), start, end),
      ontextentity: (codepoint, end) => addText(String.fromCodePoint(codepoint), source.lastIndexOf('&', end - 1), end),
      oncomment(start, end, offset) {
        endRun()
        const inner = source.slice(start, end - offset)
        const marked = depth < maxDepth ? maskHtml(masking, inner, depth + 1) : maskText(masking, inner)
        pieces.push({ start, end: end - offset, marked })
      },
      oncdata: endRun,
      ondeclaration: endRun,
      onprocessinginstruction: endRun,
      onend: endRun,
    },
  )
  tokenizer.write(source)
  tokenizer.end()
  return assembled(masking, source, pieces)
}

/** The pieces, and between them the markup: names of elements and attributes, and whatever a broken page leaves there. */
function assembled(masking: Masking, source: string, pieces: readonly Piece[]): Marked {
  let marked = ''
  let at = 0
  for (const piece of pieces) {
    if (piece.start < at) continue
    marked += maskText(masking, source.slice(at, piece.start)) + piece.marked
    at = piece.end
  }
  return marked + maskText(masking, source.slice(at))
}
