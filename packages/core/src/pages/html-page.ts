/**
 * The one file that knows HTML: a page as plain data, read within limits.
 *
 * Limits come first: a page of nested elements can keep a DOM parser busy for minutes. Then one walk through the document
 * collects all there is to know: looking things up in it takes the square of its size.
 */
import { load } from 'cheerio/slim'
import { createMarkupBudget } from './markup-budget.ts'
import type { MarkupBudget } from './markup-budget.ts'

/** An `<input>`. Entities in its value are decoded. */
export interface HtmlInput {
  readonly name: string
  readonly value: string
  /** In lower case; `text` where none is given. */
  readonly type: string
}

/** A `<form>` with the inputs that belong to it, in the page's order. */
export interface HtmlForm {
  readonly inputs: readonly HtmlInput[]
}

/** What the flow wants to know of a page. */
export interface HtmlPage {
  readonly title: string
  /** What a person would read, on one line. */
  readonly text: string
  readonly forms: readonly HtmlForm[]
  /** Inputs outside of any form. */
  readonly looseInputs: readonly HtmlInput[]
  /** The page's scripts; an empty text for one that is loaded from elsewhere. */
  readonly scripts: readonly string[]
}

/** Reads a page; `'beyond limits'` where it has too many elements, attributes or inputs, or nests them too deeply. */
export function readHtmlPage(html: string): HtmlPage | 'beyond limits' {
  const budget = createMarkupBudget()
  if (!budget.affords(html)) return 'beyond limits'
  const found: Found = { titles: [], texts: [], scripts: [], forms: [], formsById: new Map(), inputs: [] }
  if (!collect(documentOf(html), topLevel, found, budget)) return 'beyond limits'
  const { titles, texts, scripts } = found
  return { title: oneLine(titles[0] ?? ''), ...inputsByForm(found), scripts, text: oneLine(texts.join('')) }
}

/** A node of a document, as far as it matters. */
interface MarkupNode {
  readonly type: string
  readonly name?: string
  readonly attribs?: Readonly<Record<string, string>>
  /** The text of a text, or of a comment. */
  readonly data?: string
  readonly children?: readonly MarkupNode[]
}

interface FoundForm {
  readonly inputs: HtmlInput[]
}

/** What the walk collects, in the page's order. */
interface Found {
  readonly titles: string[]
  readonly texts: string[]
  readonly scripts: string[]
  readonly forms: FoundForm[]
  /** The first form of each `id`. */
  readonly formsById: Map<string, FoundForm>
  /** With the form around an input, and the `id` of the one that it names instead. */
  readonly inputs: {
    readonly input: HtmlInput
    readonly form: FoundForm | undefined
    readonly owner: string | undefined
  }[]
}

/** Where a node stands. */
interface Place {
  readonly form: FoundForm | undefined
  readonly isShown: boolean
  readonly isTemplate: boolean
}

const topLevel: Place = { form: undefined, isShown: true, isTemplate: false }
const neverShown = new Set(['title', 'script', 'style', 'noscript', 'template'])

/** Walks through the children of a node; `false` where a template in it is more than the budget affords. */
function collect(parent: MarkupNode, place: Place, found: Found, budget: MarkupBudget): boolean {
  return (parent.children ?? []).every((node) => {
    if (node.type === 'text' && place.isShown) found.texts.push(node.data ?? '')
    if (node.name === undefined || node.attribs === undefined)
      return node.type !== 'cdata' || collect(node, place, found, budget)
    if (node.name === 'script') return collectScript(node, place, found, budget)
    if (node.name === 'title' && found.titles.length === 0) found.titles.push(textOf(node))
    if (node.name === 'input')
      found.inputs.push({ input: inputOf(node), form: place.form, owner: attribute(node, 'form') })
    const form = node.name === 'form' ? foundForm(node, found) : place.form
    return collect(node, { ...place, form, isShown: place.isShown && !neverShown.has(node.name) }, found, budget)
  })
}

/** Services keep forms in `<script type="text/html">` until their own script shows them: they count as if shown. */
function collectScript(node: MarkupNode, place: Place, found: Found, budget: MarkupBudget): boolean {
  const text = textOf(node)
  // A template's own scripts are none: they would be read as often as they are nested.
  if (place.isTemplate || !/html|template/iu.test(attribute(node, 'type') ?? '')) {
    found.scripts.push(text)
    return true
  }
  return budget.affords(text) && collect(documentOf(text), { ...place, isTemplate: true }, found, budget)
}

function foundForm(node: MarkupNode, { forms, formsById }: Found): FoundForm {
  const form: FoundForm = { inputs: [] }
  const id = attribute(node, 'id')
  if (id !== undefined && !formsById.has(id)) formsById.set(id, form)
  forms.push(form)
  return form
}

function inputOf(node: MarkupNode): HtmlInput {
  return {
    name: attribute(node, 'name') ?? '',
    value: attribute(node, 'value') ?? '',
    type: (attribute(node, 'type') ?? 'text').toLowerCase(),
  }
}

/** Once all forms are known: an input may name one that comes after it. */
function inputsByForm({ forms, formsById, inputs }: Found): Pick<HtmlPage, 'forms' | 'looseInputs'> {
  const looseInputs: HtmlInput[] = []
  for (const { input, form, owner } of inputs) {
    const belongsTo = owner === undefined ? form : formsById.get(owner)
    ;(belongsTo?.inputs ?? looseInputs).push(input)
  }
  return { forms, looseInputs }
}

function documentOf(markup: string): MarkupNode {
  return load(markup).root()[0] ?? { type: 'root' }
}

/** The text in a title or a script; elements are none of it in HTML, but they are in SVG. */
function textOf({ type, data, children = [] }: MarkupNode): string {
  return type === 'text' ? (data ?? '') : children.map(textOf).join('')
}

function attribute({ attribs = {} }: MarkupNode, name: string): string | undefined {
  return Object.hasOwn(attribs, name) ? attribs[name] : undefined
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim()
}
