/**
 * The one file that knows HTML: a page as plain data, read within limits, and as a browser reads it that runs none of its
 * scripts: the tree is that of the HTML standard.
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
  /** Never posted: it is disabled, alone or with its fieldset, or names a form that is not there. */
  readonly isDisabled: boolean
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
  const loose: FoundForm = { id: undefined, inputs: [], action: undefined, hasCaptchaWidget: false }
  const found: Found = { titles: [], texts: [], shownTexts: [], scripts: [], forms: [], named: [] }
  const topLevel = { form: loose, isText: true, isShown: true, isDisabled: false, isTemplate: false }
  if (!collect(document, topLevel, found, budget)) return 'beyond limits'
  const { titles, texts, shownTexts, scripts, forms, named } = found
  for (const { input, id } of named) {
    const owner = forms.find((form) => form.id === id)
    if (owner) owner.inputs.push(input)
    else loose.inputs.push({ ...input, isDisabled: true })
  }
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
    looseInputs: loose.inputs,
    hasLooseCaptchaWidget: loose.hasCaptchaWidget,
    scripts,
  }
}

/** The parts of cheerio's nodes that are read here. */
interface MarkupNode {
  readonly type: string
  readonly name?: string
  readonly namespace?: string
  readonly attribs?: Readonly<Record<string, string>>
  /** The text of a text, or of a comment. */
  readonly data?: string
  readonly children?: readonly MarkupNode[]
}

interface FoundForm extends HtmlForm {
  readonly id: string | undefined
  readonly inputs: HtmlInput[]
  hasCaptchaWidget: boolean
}

interface Found {
  readonly titles: string[]
  readonly texts: string[]
  readonly shownTexts: string[]
  readonly scripts: string[]
  readonly forms: FoundForm[]
  /** Inputs that name their form, which may come after them. */
  readonly named: { readonly input: HtmlInput; readonly id: string }[]
}

interface Place {
  readonly form: FoundForm
  /** Its text is read by a person, now or once a script has shown it. */
  readonly isText: boolean
  readonly isShown: boolean
  readonly isDisabled: boolean
  readonly isTemplate: boolean
}

const neverShown = new Set(['title', 'script', 'style', 'noscript', 'iframe', 'noembed', 'noframes'])

/** Walks through the children of a node; `false` where a template in it is more than the budget affords. */
function collect({ children = [] }: MarkupNode, place: Place, found: Found, budget: MarkupBudget): boolean {
  return children.every((node) => collectNode(node, place, found, budget))
}

function collectNode(node: MarkupNode, place: Place, found: Found, budget: MarkupBudget): boolean {
  if (node.type === 'text') collectText(node.data ?? '', place, found)
  if (node.name === undefined || node.attribs === undefined) return true
  if (node.name === 'script') return collectScript(node, place, found, budget)
  if (isHtml(node, 'title') && found.titles.length === 0) found.titles.push(textOf(node))
  // Nothing in it is part of the page.
  if (isHtml(node, 'template')) return true
  const here = placeIn(node, place, found)
  const { form } = here
  if (isHtml(node, 'input')) {
    const [input, id] = [inputOf(node, here), attribute(node, 'form')]
    if (id === undefined) form.inputs.push(input)
    else found.named.push({ input, id })
  }
  if (isCaptchaWidget(node.name, node.attribs)) form.hasCaptchaWidget = true
  return collect(node, here, found, budget)
}

/** Whether a node is this element of HTML: SVG may have one of the same name. */
function isHtml({ name, namespace }: MarkupNode, expected: string): boolean {
  return name === expected && namespace === 'http://www.w3.org/1999/xhtml'
}

function collectText(text: string, { isText, isShown }: Place, { texts, shownTexts }: Found): void {
  if (isText) texts.push(text)
  if (isShown) shownTexts.push(text)
}

function placeIn(node: MarkupNode, place: Place, found: Found): Place {
  const isText = place.isText && !neverShown.has(node.name ?? '')
  const isShown = place.isShown && isText && !isHidden(node)
  const isDisabled = place.isDisabled || (isHtml(node, 'fieldset') && attribute(node, 'disabled') !== undefined)
  const form = isHtml(node, 'form') ? newForm(node, found) : place.form
  if (form === place.form && isText === place.isText && isShown === place.isShown && isDisabled === place.isDisabled)
    return place
  return { ...place, form, isText, isShown, isDisabled }
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
  const inside = { ...place, isShown: false, isTemplate: true }
  return template !== undefined && collect(template, inside, found, budget)
}

function newForm(node: MarkupNode, { forms }: Found): FoundForm {
  const form = { id: attribute(node, 'id'), inputs: [], action: attribute(node, 'action'), hasCaptchaWidget: false }
  forms.push(form)
  return form
}

function inputOf(node: MarkupNode, place: Place): HtmlInput {
  const type = (attribute(node, 'type') ?? 'text').toLowerCase()
  const [name = '', value = ''] = [attribute(node, 'name'), attribute(node, 'value')]
  const isDisabled = place.isDisabled || attribute(node, 'disabled') !== undefined
  return { name, value, type, isShown: place.isShown && type !== 'hidden', isDisabled }
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
