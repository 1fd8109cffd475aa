/**
 * A page, written anew from its elements, attributes and texts, each of them masked.
 */
import { Parser } from 'htmlparser2'
import { maskAddress, maskName, maskValue } from './field-masks.ts'
import type { Mask } from './pseudonyms.ts'
import { maskText } from './text-mask.ts'

const addressAttributes = new Set(['action', 'formaction', 'href', 'src'])
const nameAttributes = new Set(['name', 'id', 'for', 'form'])
/** Templates and comments hold markup, which may hold more of them. */
const maxDepth = 4

type Attributes = Readonly<Record<string, string>>

export function maskHtml(mask: Mask, source: string, depth = 0): string {
  let masked = ''
  let text = ''
  let tag = ''
  let attributes: Attributes = {}

  function endText(): void {
    if (text !== '') masked += maskContent(text)
    text = ''
  }
  function maskContent(content: string): string {
    if (tag === 'style') return mask.value('style', content)
    if (tag !== 'script') return maskText(mask, content, 'html')
    return /html|template/iu.test(attributes['type'] ?? '') ? nested(content) : maskText(mask, content)
  }
  function nested(content: string): string {
    return depth < maxDepth ? maskHtml(mask, content, depth + 1) : maskText(mask, content, 'html')
  }

  const parser = new Parser({
    onopentag(name, given) {
      endText()
      tag = name
      attributes = given
      const shown = Object.entries(given).map(
        ([each, value]) => ` ${maskName(mask, each)}="${maskAttribute(each, value)}"`,
      )
      masked += `<${maskName(mask, name)}${shown.join('')}>`
    },
    ontext(piece) {
      text += piece
    },
    onclosetag(name, isImplied) {
      endText()
      tag = ''
      if (!isImplied) masked += `</${maskName(mask, name)}>`
    },
    oncomment(content) {
      endText()
      masked += `<!--${nested(content)}-->`
    },
    onprocessinginstruction(_name, content) {
      endText()
      masked += `<${maskText(mask, content, 'html')}>`
    },
    onend: endText,
  })
  parser.end(source)
  return masked

  function maskAttribute(name: string, value: string): string {
    if (addressAttributes.has(name)) return maskAddress(mask, value).replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    if (nameAttributes.has(name)) return maskName(mask, value, 'html')
    const isField = name === 'value' && tag === 'input' && !/^(?:submit|button)$/iu.test(attributes['type'] ?? '')
    return isField ? maskValue(mask, attributes['name'] ?? 'value', value, 'html') : maskText(mask, value, 'html')
  }
}
