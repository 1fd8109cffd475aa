/**
 * The one file that knows HTML: a page as plain data, read within limits.
 *
 * Limits hold while it is parsed: a page of nested elements can keep a DOM parser busy for minutes. Then one walk through the
 * document collects everything: a query for each thing would take time that grows with the square of the page's size.
 */
import { load } from 'cheerio/slim'
import { isCaptchaWidget } from './captcha-widget.ts'
import { MarkupBudget } from './markup-budget.ts'

/** Made once: to make another takes longer than to read a page. */
const cheerio = load('')

/** An `<input>`. Entities in its value are decoded. */
export interface HtmlInput {
  readonly name: string
  readonly value: string
  /** In lower case; `text` where none is given. */
  readonly type: string
  /** Whether a person sees it: not of type `hidden`, in no template, and in no hidden element. */
  readonly isShown: boolean
}

/** A `<form>` with the inputs that belong to it, in the page's order. */
export interface HtmlForm {
  readonly inputs: readonly HtmlInput[]
  /** As it stands in the page. */
  readonly action: string | undefined
  /** A captcha of another company's stands in it. */
  readonly hasCaptchaWidget: boolean
}

/** A page as the flow needs it. */
export interface HtmlPage {
  readonly title: string
  /** All that a person could ever read, on one line: the page's templates count. */
  readonly text: string
  /** What a person reads at first: nothing of templates, and nothing that is hidden. */
  readonly shownText: string
  readonly forms: readonly HtmlForm[]
  /** Inputs outside of any form. */
  readonly looseInputs: readonly HtmlInput[]
  /** A captcha of another company's stands outside of any form. */
  readonly hasLooseCaptchaWidget: boolean
  /** The page's scripts; an empty text for one that is loaded from elsewhere. */
  readonly scripts: readonly string[]
}

/** Reads a page; `'beyond limits'` where it has too many elements, attributes or inputs, or nests them too deeply. */
export function readHtmlPage(html: string): HtmlPage | 'beyond limits' {
  const budget = new MarkupBudget()
  const document = documentOf(html, budget)
  if (!document) return 'beyond limits'
  const found: Found = {
    titles: [],
    texts: [],
    shownTexts: [],
    scripts: [],
    forms: [],
    formsById: new Map(),
    inputs: [],
    hasLooseCaptchaWidget: false,
  }
  if (!collect(document, topLevel, found, budget)) return 'beyond limits'
  const { titles, texts, shownTexts, scripts, hasLooseCaptchaWidget } = found
  const { forms, looseInputs } = inputsByForm(found)
  return {
    title: oneLine(titles[0] ?? ''),
    // Joined on demand: nobody reads the text of most pages.
    get text() {
      return oneLine(texts.join(''))
    },
    get shownText() {
      return oneLine(shownTexts.join(''))
    },
    forms,
    looseInputs,
    hasLooseCaptchaWidget,
    scripts,
  }
}

/** The parts of cheerio's nodes that are read here. */
interface MarkupNode {
  readonly type: string
  readonly name?: string
  readonly attribs?: Readonly<Record<string, string>>
  /** The text of a text, or of a comment. */
  readonly data?: string
  readonly children?: readonly MarkupNode[]
}

interface FoundForm extends HtmlForm {
  readonly inputs: HtmlInput[]
  hasCaptchaWidget: boolean
}

/** What the walk collects, in the page's order. */
interface Found {
  readonly titles: string[]
  readonly texts: string[]
  readonly shownTexts: string[]
  hasLooseCaptchaWidget: boolean
  readonly scripts: string[]
  readonly forms: FoundForm[]
  /** The first form of each `id`. */
  readonly formsById: Map<string, FoundForm>
  /** With the form that an input stands in, and the `id` of the form that it names instead. */
  readonly inputs: {
    readonly input: HtmlInput
    readonly form: FoundForm | undefined
    readonly owner: string | undefined
  }[]
}

/** Where a node stands. */
interface Place {
  readonly form: FoundForm | undefined
  /** Its text is read by a person, now or once a script has shown it. */
  readonly isText: boolean
  readonly isShown: boolean
  readonly isTemplate: boolean
}

const topLevel: Place = { form: undefined, isText: true, isShown: true, isTemplate: false }
const neverShown = new Set(['title', 'script', 'style', 'noscript', 'template'])

/** Walks through the children of a node; `false` where a template in it is more than the budget affords. */
function collect({ children = [] }: MarkupNode, place: Place, found: Found, budget: MarkupBudget): boolean {
  return children.every((node) => collectNode(node, place, found, budget))
}

function collectNode(node: MarkupNode, place: Place, found: Found, budget: MarkupBudget): boolean {
  if (node.type === 'text') collectText(node.data ?? '', place, found)
  if (node.name === undefined || node.attribs === undefined) return true
  if (node.name === 'script') return collectScript(node, place, found, budget)
  if (node.name === 'title' && found.titles.length === 0) found.titles.push(textOf(node))
  const here = placeIn(node, place, found)
  if (node.name === 'input')
    found.inputs.push({ input: inputOf(node, here), form: here.form, owner: attribute(node, 'form') })
  if (isCaptchaWidget(node.name, node.attribs)) noteCaptcha(here, found)
  return collect(node, here, found, budget)
}

function collectText(text: string, { isText, isShown }: Place, { texts, shownTexts }: Found): void {
  if (isText) texts.push(text)
  if (isShown) shownTexts.push(text)
}

function noteCaptcha({ form }: Place, found: Found): void {
  if (form) form.hasCaptchaWidget = true
  else found.hasLooseCaptchaWidget = true
}

/** The place of what stands in an element, and of the element itself. */
function placeIn(node: MarkupNode, place: Place, found: Found): Place {
  const isText = place.isText && !neverShown.has(node.name ?? '')
  const isShown = place.isShown && isText && !isHidden(node)
  const form = node.name === 'form' ? foundForm(node, found) : place.form
  if (form === place.form && isText === place.isText && isShown === place.isShown) return place
  return { form, isText, isShown, isTemplate: place.isTemplate }
}

/** By its own attributes alone: style sheets and scripts are not run. */
function isHidden(node: MarkupNode): boolean {
  if (attribute(node, 'hidden') !== undefined) return true
  const style = attribute(node, 'style')
  return style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/iu.test(style)
}

/** Services keep forms in `<script type="text/html">` until their own script shows them: their forms count as the page's. */
function collectScript(node: MarkupNode, place: Place, found: Found, budget: MarkupBudget): boolean {
  const text = textOf(node)
  // Scripts in a template are not templates themselves: they would be read as often as they are nested.
  if (place.isTemplate || !/html|template/iu.test(attribute(node, 'type') ?? '')) {
    found.scripts.push(text)
    return true
  }
  const template = documentOf(text, budget)
  return template !== undefined && collect(template, { ...place, isShown: false, isTemplate: true }, found, budget)
}

function foundForm(node: MarkupNode, { forms, formsById }: Found): FoundForm {
  const form: FoundForm = { inputs: [], action: attribute(node, 'action'), hasCaptchaWidget: false }
  const id = attribute(node, 'id')
  if (id !== undefined && !formsById.has(id)) formsById.set(id, form)
  forms.push(form)
  return form
}

function inputOf(node: MarkupNode, { isShown }: Place): HtmlInput {
  const type = (attribute(node, 'type') ?? 'text').toLowerCase()
  const [name = '', value = ''] = [attribute(node, 'name'), attribute(node, 'value')]
  return { name, value, type, isShown: isShown && type !== 'hidden' }
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

function documentOf(markup: string, budget: MarkupBudget): MarkupNode | undefined {
  const document = budget.parse(markup)
  return document && cheerio(document)[0]
}

/** The text in a title or a script; elements are not part of it in HTML, but they are in SVG. */
function textOf({ type, data, children = [] }: MarkupNode): string {
  return type === 'text' ? (data ?? '') : children.map(textOf).join('')
}

function attribute({ attribs = {} }: MarkupNode, name: string): string | undefined {
  return Object.hasOwn(attribs, name) ? attribs[name] : undefined
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim()
}
