/**
 * The one file that knows HTML: a page as plain data, read within limits.
 *
 * Limits come first: a page of nested elements can keep a DOM parser busy for minutes.
 */
import { load } from 'cheerio/slim'
import type { CheerioAPI } from 'cheerio/slim'
import { createMarkupBudget } from './markup-budget.ts'

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
  const $ = load(html)
  for (const template of $('script').toArray()) {
    if (!/html|template/iu.test($(template).attr('type') ?? '')) continue
    // Services keep forms in <script type="text/html"> until their own script shows them: they count as if shown.
    const markup = $(template).text()
    if (!budget.affords(markup)) return 'beyond limits'
    $(template).replaceWith(markup)
  }
  return {
    title: oneLine($('title').first().text()),
    ...inputsByForm($),
    scripts: $('script')
      .toArray()
      .map((script) => $(script).text()),
    text: visibleText($),
  }
}

function inputsByForm($: CheerioAPI): Pick<HtmlPage, 'forms' | 'looseInputs'> {
  const forms = $('form').toArray()
  const inputsOf = new Map<unknown, HtmlInput[]>(forms.map((form) => [form, []]))
  const looseInputs: HtmlInput[] = []
  for (const element of $('input').toArray()) {
    const input = $(element)
    const owner = input.attr('form')
    const form = owner === undefined ? input.closest('form')[0] : forms.find((each) => $(each).attr('id') === owner)
    const inputs = inputsOf.get(form) ?? looseInputs
    inputs.push({
      name: input.attr('name') ?? '',
      value: input.attr('value') ?? '',
      type: (input.attr('type') ?? 'text').toLowerCase(),
    })
  }
  return { forms: [...inputsOf.values()].map((inputs) => ({ inputs })), looseInputs }
}

/** Takes out of the page what is not shown: nothing may be read from it afterwards. */
function visibleText($: CheerioAPI): string {
  $('title, script, style, noscript, template').remove()
  return oneLine($.root().text())
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim()
}
