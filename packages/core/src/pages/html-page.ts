/**
 * The one file that knows HTML: a page as plain data, read within limits, and as a browser reads it that runs none of its
 * scripts: the tree and the owners of inputs are those of the HTML standard.
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
  const found: Found = {
    titles: [],
    texts: [],
    shownTexts: [],
    scripts: [],
    forms: new Map(),
    inputs: [],
    hasLooseCaptchaWidget: false,
  }
  if (!collect(document, topLevel(), found, budget)) return 'beyond limits'
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
  readonly namespace?: string
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
  /** By their elements: one may be met by an input of its own first, where a table has moved that. */
  readonly forms: Map<object, FoundForm>
  /** With the form that an input belongs to by its place, and the `id` of the one that it names instead. */
  readonly inputs: {
    readonly input: HtmlInput
    readonly form: FoundForm | undefined
    readonly owner: string | undefined
    readonly ids: Ids
  }[]
}

/** The first element of each `id` in a document; `undefined` where it is no form. */
type Ids = Map<string, FoundForm | undefined>

/** Where a node stands. */
interface Place {
  readonly form: FoundForm | undefined
  /** Its text is read by a person, now or once a script has shown it. */
  readonly isText: boolean
  readonly isShown: boolean
  readonly isDisabled: boolean
  readonly isTemplate: boolean
  readonly ids: Ids
}

const topLevel = (): Place => ({
  form: undefined,
  isText: true,
  isShown: true,
  isDisabled: false,
  isTemplate: false,
  ids: new Map(),
})
const neverShown = new Set(['title', 'script', 'style', 'noscript', 'iframe', 'noembed', 'noframes'])

/** Walks through the children of a node; `false` where a template in it is more than the budget affords. */
function collect({ children = [] }: MarkupNode, place: Place, found: Found, budget: MarkupBudget): boolean {
  return children.every((node) => collectNode(node, place, found, budget))
}

/** The same, where the first legend of a disabled fieldset is as usable as what is around it. */
function collectFieldset(node: MarkupNode, place: Place, outer: Place, found: Found, budget: MarkupBudget): boolean {
  const { children = [] } = node
  const legend = children.find((child) => isHtml(child, 'legend'))
  const { isDisabled } = outer
  return children.every((child) =>
    collectNode(child, child === legend ? { ...place, isDisabled } : place, found, budget),
  )
}

function collectNode(node: MarkupNode, place: Place, found: Found, budget: MarkupBudget): boolean {
  if (node.type === 'text') collectText(node.data ?? '', place, found)
  if (node.name === undefined || node.attribs === undefined) return true
  if (node.name === 'script') return collectScript(node, place, found, budget)
  if (isHtml(node, 'title') && found.titles.length === 0) found.titles.push(textOf(node))
  const here = placeIn(node, place, found)
  const owner = budget.openForms.get(node)
  const form = owner ? foundForm(owner, found) : here.form
  const id = attribute(node, 'id') ?? ''
  if (id !== '' && !here.ids.has(id)) here.ids.set(id, isHtml(node, 'form') ? here.form : undefined)
  // Nothing in it is part of the page, not even its ids.
  if (isHtml(node, 'template')) return true
  if (isHtml(node, 'input'))
    found.inputs.push({
      input: inputOf(node, here),
      form,
      owner: attribute(node, 'form'),
      ids: here.ids,
    })
  if (isCaptchaWidget(node.name, node.attribs)) noteCaptcha(form, found)
  return isHtml(node, 'fieldset')
    ? collectFieldset(node, here, place, found, budget)
    : collect(node, here, found, budget)
}

/** Whether a node is this element of HTML: SVG may have one of the same name. */
function isHtml({ name, namespace }: MarkupNode, expected: string): boolean {
  return name === expected && namespace === 'http://www.w3.org/1999/xhtml'
}

function collectText(text: string, { isText, isShown }: Place, { texts, shownTexts }: Found): void {
  if (isText) texts.push(text)
  if (isShown) shownTexts.push(text)
}

function noteCaptcha(form: FoundForm | undefined, found: Found): void {
  if (form) form.hasCaptchaWidget = true
  else found.hasLooseCaptchaWidget = true
}

/** The place of what stands in an element, and of the element itself. */
function placeIn(node: MarkupNode, place: Place, found: Found): Place {
  const isText = place.isText && !neverShown.has(node.name ?? '')
  const isShown = place.isShown && isText && !isHidden(node)
  const isDisabled = place.isDisabled || isDisabledFieldset(node)
  const form = isHtml(node, 'form') ? foundForm(node, found) : place.form
  if (form === place.form && isText === place.isText && isShown === place.isShown && isDisabled === place.isDisabled)
    return place
  return { ...place, form, isText, isShown, isDisabled }
}

function isDisabledFieldset(node: MarkupNode): boolean {
  return isHtml(node, 'fieldset') && attribute(node, 'disabled') !== undefined
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
  const inside = { ...place, isShown: false, isTemplate: true, ids: new Map(place.ids) }
  return template !== undefined && collect(template, inside, found, budget)
}

function foundForm(node: MarkupNode, { forms }: Found): FoundForm {
  const form = forms.get(node) ?? { inputs: [], action: attribute(node, 'action'), hasCaptchaWidget: false }
  forms.set(node, form)
  return form
}

function inputOf(node: MarkupNode, place: Place): HtmlInput {
  const type = (attribute(node, 'type') ?? 'text').toLowerCase()
  const [name = '', value = ''] = [attribute(node, 'name'), attribute(node, 'value')]
  const isDisabled = place.isDisabled || attribute(node, 'disabled') !== undefined
  return { name, value, type, isShown: place.isShown && type !== 'hidden', isDisabled }
}

/** Once all forms are known: an input may name one that comes after it. */
function inputsByForm({ forms, inputs }: Found): Pick<HtmlPage, 'forms' | 'looseInputs'> {
  const looseInputs: HtmlInput[] = []
  for (const { input, form, owner, ids } of inputs) {
    const belongsTo = owner === undefined ? form : ids.get(owner)
    if (belongsTo) belongsTo.inputs.push(input)
    else looseInputs.push(owner === undefined ? input : { ...input, isDisabled: true })
  }
  return { forms: [...forms.values()], looseInputs }
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
