/**
 * A request and its answer as a recording shows them. A value is shown where its field has no secret (support/plain-fields.ts), a text
 * as far as it is made of plain words; all else has a placeholder, the same for the same value.
 */
import { Parser } from 'htmlparser2'
import { grouped } from '../http/service-request.ts'
import { plainFields, words } from '../support/plain-fields.ts'
import type { Json, Parameters, RecordedAnswer, RecordedBody, RecordedRequest } from './fixture.ts'
import { isPlain, placeholder, shapeOf, spell, type Shape, type Spelling } from './placeholders.ts'

export type SeenHeaders = readonly (readonly [name: string, value: string])[]

export interface SeenRequest {
  readonly instance: 'home' | 'regional'
  readonly method: string
  readonly url: string
  readonly headers: SeenHeaders
  readonly body: Buffer
}

export interface SeenResponse {
  readonly status: number
  readonly headers: SeenHeaders
  readonly body: Buffer
}

/** Shown where they are made of plain words. */
const fixed = new Set([...plainFields.fixedByClient, ...plainFields.fixedByService])
const sentences = new Set(plainFields.sentences)
const wordsInErrors = new Set(plainFields.wordsInErrors)
const numbers = new Set(plainFields.numbers)
/** The headers that a login depends on. All others are left out. */
const shownHeaders = new Set(words('content-type accept location origin referer retry-after set-cookie'))
const addressAttributes = new Set(['action', 'formaction', 'href', 'src'])
const nameAttributes = new Set(['name', 'id', 'for', 'form'])
/** Shorter values stand in any text by chance; of a credential that chance is taken. */
const minSearchedLength = 6
/** Of the text before a word, so much is looked at. */
const maxBefore = 80
/** Tags inside a sentence. */
const inline = new Set(words('a b em i mark small span strong u'))
/** Templates hold markup, which may hold more of them. */
const maxDepth = 4

/** @param addresses The recorder's own, by the names that they have in a recording */
export function createMasking(addresses: Readonly<Record<string, string>>) {
  const names = new Map(Object.entries(addresses).map(([name, address]) => [address, name]))
  const counts = new Map<string, number>()
  const known = [...names]
  const shapes: Record<string, Shape> = {}
  /** Names that the interface or the service has: any other one without a value may be a secret that stands alone. */
  const told = new Set(Object.values(plainFields).flat())
  let isOfService = false

  /** The placeholder of a value; the first time, it is named after the field it came from. */
  function masked(field: string, value: string, how?: Spelling, isText = false): string {
    const present = names.get(value)
    if (present !== undefined) return placeholder(present, how)
    const stem = /^[A-Za-z_][\w.-]{0,59}$/u.test(field) && isPlain(field) ? field : 'value'
    const count = (counts.get(stem) ?? 0) + 1
    const name = `${stem}.${count}`
    counts.set(stem, count)
    names.set(value, name)
    if (isText) return placeholder(name, how)
    if (value.length >= minSearchedLength || field === 'credential') known.push([value, name])
    if (isOfService) shapes[name] = shapeOf(value)
    return placeholder(name, how)
  }

  /** A name without a value may be a secret that stands alone. */
  function maskName(name: string, how?: Spelling, isAlone = false): string {
    if (isAlone && !told.has(name)) return masked('name', name, how, true)
    if (isOfService) told.add(name)
    return isPlain(name) ? spell(name, how) : masked('name', name, how, true)
  }

  function maskValue(field: string, value: string, how?: Spelling): string {
    if (value === '' || (fixed.has(field) && isPlain(value))) return spell(value, how)
    if (numbers.has(field) && /^\d{1,6}$/u.test(value)) return value
    // An address within an address is shown as far as it has no parameters of its own.
    if (sentences.has(field) || /^https?:\/\/[^\s?#]+$/u.test(value)) return maskText(value, how)
    return masked(field, value, how)
  }

  /** Plain words stay, values that were masked before have their names, and all else is masked. `before` is what the sentence has already. */
  function maskText(text: string, how?: Spelling, isTitle = false, before = ''): string {
    let shown = ''
    let done = 0
    for (const { start, end, name } of occurrences(text, known)) {
      shown += maskWords(text.slice(done, start), how, isTitle, before + ending(text, done)) + placeholder(name, how)
      done = end
    }
    return shown + maskWords(text.slice(done), how, isTitle, before + ending(text, done))
  }

  /** Word by word: one unknown part makes all of it unknown, and of an e-mail address or a host nothing is shown. */
  function maskWords(text: string, how: Spelling | undefined, isTitle: boolean, before: string): string {
    let shown = ''
    let done = 0
    const mask = (field: string, word: string, start: number): void => {
      shown += signs(text.slice(done, start), how) + masked(field, word, how, field === 'text')
      done = start + word.length
    }
    for (const { 0: token, 1: origin, index: start } of text.matchAll(tokens)) {
      if (origin !== undefined) {
        mask('origin', origin, start)
        continue
      }
      for (const { 0: word, index } of token.matchAll(atSign.test(token) ? /.+/gu : /[^:=.!?/&]+/gu)) {
        const at = start + index
        const isShown =
          !atSign.test(word) &&
          isPlain(word) &&
          (isTitle || !isName(word, before + ending(text, at), text.slice(at + word.length)))
        if (!isShown) mask('text', word, at)
      }
    }
    return shown + signs(text.slice(done), how)
  }

  function maskParameters(parameters: URLSearchParams): Parameters {
    const fields = grouped(parameters).map(([name, value]) => {
      const shown = typeof value === 'string' ? maskValue(name, value) : value.map((each) => maskValue(name, each))
      return [maskName(name, undefined, shown === ''), shown] as const
    })
    return Object.fromEntries(fields)
  }

  function maskJson(value: unknown, field = 'value', parent = ''): Json {
    if (typeof value === 'string') {
      const isWord = parent === 'error' && wordsInErrors.has(field) && /^[A-Z][A-Z_]{2,40}$/u.test(value)
      return isWord && !names.has(value) ? value : maskValue(field, value)
    }
    if (typeof value === 'number') {
      const isShown = /^\d{1,2}$/u.test(String(value)) || (numbers.has(field) && /^\d{1,6}$/u.test(String(value)))
      return isShown ? value : masked(field, String(value), 'number')
    }
    if (Array.isArray(value)) return value.map((item: unknown) => maskJson(item, field, parent))
    if (typeof value !== 'object' || value === null) return value === true || value === false ? value : null
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [maskName(name), maskJson(item, name, field)]),
    )
  }

  /** An address, whole or relative: its parameters as fields, the rest as text. */
  function maskAddress(address: string): string {
    const [, path = '', query, fragment] = /([^?#]*)(?:\?([^#]*))?(?:#(.*))?/su.exec(address) ?? []
    const pairs = query?.split('&').map((pair) => {
      const [[name = '', value = ''] = []] = new URLSearchParams(pair)
      return `${maskName(name, 'url', value === '')}=${maskValue(name, value, 'url')}`
    })
    return [maskText(path), pairs && `?${pairs.join('&')}`, fragment && `#${maskText(fragment, 'url')}`].join('')
  }

  function maskCookie(pair: string): readonly [name: string, value: string] {
    const [name = '', value] = pair.trim().split(/[=](.*)/su)
    return [maskName(name, undefined, value === undefined), value ? masked('cookie', value) : '']
  }

  function maskHeader(name: string, value: string): string {
    if (name === 'set-cookie') {
      const [pair = '', ...attributes] = value.split(';').map((part) => part.trim())
      const shown = attributes.map((each) => (/^max-age=-?\d{1,9}$/iu.test(each) ? each : maskText(each)))
      return [maskCookie(pair).join('='), ...shown].join('; ')
    }
    if (name === 'retry-after' && /^\d{1,5}$/u.test(value)) return value
    return ['location', 'origin', 'referer'].includes(name) ? maskAddress(value) : maskText(value)
  }

  function maskHeaders(headers: SeenHeaders): Parameters {
    const shown = new Map<string, string[]>()
    for (const [written, value] of headers) {
      const name = written.toLowerCase()
      if (shownHeaders.has(name)) shown.set(name, [...(shown.get(name) ?? []), maskHeader(name, value)])
    }
    return Object.fromEntries([...shown].map(([name, values]) => [name, values.length > 1 ? values : values.join('')]))
  }

  /** A page, written anew from its elements, attributes and texts; without its styles. */
  function maskHtml(source: string, depth = 0): string {
    let shown = ''
    let text = ''
    let before = ''
    let tag = ''
    let attributes: Readonly<Record<string, string>> = {}
    const nested = (content: string): string =>
      depth < maxDepth ? maskHtml(content, depth + 1) : maskText(content, 'html')
    const content = (): string => {
      if (tag === 'style') return ''
      if (tag !== 'script') return maskText(text, 'html', tag === 'title', before)
      return /html|template/iu.test(attributes['type'] ?? '') ? nested(text) : maskText(text)
    }
    const endText = (): void => {
      shown += text && content()
      before = ending(before + text)
      text = ''
    }
    const attribute = (name: string, value: string): string => {
      if (addressAttributes.has(name)) return maskAddress(value).replaceAll('&', '&amp;').replaceAll('"', '&quot;')
      if (nameAttributes.has(name)) return maskName(value, 'html')
      const isField = name === 'value' && tag === 'input' && !/^(?:submit|button)$/iu.test(attributes['type'] ?? '')
      return isField ? maskValue(attributes['name'] ?? 'value', value, 'html') : maskText(value, 'html')
    }
    const parser = new Parser({
      onopentag(name, given) {
        endText()
        if (!inline.has(name)) before = ''
        tag = name
        attributes = given
        const each = Object.entries(given).map(([key, value]) => ` ${maskName(key)}="${attribute(key, value)}"`)
        shown += `<${maskName(name)}${each.join('')}>`
      },
      ontext: (piece) => void (text += piece),
      onclosetag(name, isImplied) {
        endText()
        if (!inline.has(name)) before = ''
        tag = ''
        if (!isImplied) shown += `</${maskName(name)}>`
      },
      oncomment(comment) {
        endText()
        shown += `<!--${nested(comment)}-->`
      },
      onprocessinginstruction(_name, instruction) {
        endText()
        shown += `<${maskText(instruction, 'html')}>`
      },
      onend: endText,
    })
    parser.end(source)
    return shown
  }

  function maskBody(headers: SeenHeaders, body: Buffer): RecordedBody {
    if (body.length === 0) return {}
    const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1].toLowerCase() ?? ''
    const text = body.toString('utf8')
    if (!Buffer.from(text).equals(body)) return { text: [masked('body', body.toString('base64'))] }
    if (type.includes('application/x-www-form-urlencoded')) return { form: maskParameters(new URLSearchParams(text)) }
    try {
      return { json: maskJson(JSON.parse(text)) }
    } catch {
      // Of the client's own words nothing is shown: they may be a password.
      if (!isOfService) return { text: [masked('body', text)] }
      // What claims to be JSON may well be a page.
      return type.includes('html') || /^\s*</u.test(text)
        ? { html: maskHtml(text).split('\n') }
        : { text: maskText(text).split('\n') }
    }
  }

  return {
    request({ instance, method, url, headers, body }: SeenRequest): RecordedRequest {
      isOfService = false
      const [path = '', query = ''] = url.split(/\?(.*)/su)
      const cookies = headers.flatMap(([name, value]) => (name.toLowerCase() === 'cookie' ? value.split(';') : []))
      return {
        instance,
        method,
        path: maskText(path),
        ...(query && { query: maskParameters(new URLSearchParams(query)) }),
        ...(cookies.length > 0 && { cookies: Object.fromEntries(cookies.map(maskCookie)) }),
        headers: maskHeaders(headers),
        ...maskBody(headers, body),
      }
    },
    answer({ status, headers, body }: SeenResponse): RecordedAnswer {
      isOfService = true
      return { status, headers: maskHeaders(headers), ...maskBody(headers, body) }
    },
    /** Of the values that came from the service first, by name. */
    shapes: (): Readonly<Record<string, Shape>> => ({ ...shapes }),
  }
}

const tokens = /(https?:\/\/[^\s/?#"'`<>]*)|[^\s"'`<>(){}[\],;]+(?:;(?<=&#?\w{1,9};)[^\s"'`<>(){}[\],;]*)*/giu
/** The sign of an e-mail address, however it is written. */
const atSign = /@|%(?:25)*40|\\(?:u00|x)40|&(?:#64|#x40|commat);/iu

function ending(text: string, end = text.length): string {
  return text.slice(Math.max(0, end - maxBefore), end)
}

/** Whether a word may be a person's or a place's name: it has a capital, and begins no sentence, nor is it a quotation's only word. */
function isName(word: string, before: string, after: string): boolean {
  if (!/^\p{Lu}/u.test(word)) return false
  return /["'`]$/u.test(before) ? !after.startsWith(' ') : /[^\s.!?:>([{=/&;-]$/u.test(before.trimEnd())
}

/** What is shown. Two braces in a row would begin a placeholder. */
function signs(text: string, how: Spelling | undefined): string {
  return spell(text.replaceAll('{{', '{ {'), how)
}

interface Occurrence {
  readonly start: number
  readonly end: number
  readonly name: string
}

/** Where known values stand, longest first, without overlaps, in the order of the text. */
function occurrences(text: string, values: readonly (readonly [value: string, name: string])[]): Occurrence[] {
  const found: Occurrence[] = []
  // Letters whose small form is longer would shift what comes after them.
  const small = text.toLowerCase()
  const lower = small.length === text.length ? small : text
  const taken = new Uint8Array(text.length)
  for (const [value, name] of values.toSorted(([one], [other]) => other.length - one.length)) {
    const wanted = value.toLowerCase()
    for (let start = lower.indexOf(wanted); start !== -1; start = lower.indexOf(wanted, start + 1)) {
      const end = start + value.length
      // Longer values come first: one that overlaps covers our first or our last character.
      if (taken[start] === 1 || taken[end - 1] === 1) continue
      taken.fill(1, start, end)
      found.push({ start, end, name })
    }
  }
  return found.toSorted((one, other) => one.start - other.start)
}
