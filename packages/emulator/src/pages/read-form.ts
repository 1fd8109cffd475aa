/**
 * Reads the form of one of these pages, as a browser does: what is hidden in it, what a person fills in, and what it says.
 */
import { decodeText } from './html.ts'

export interface PageForm {
  /** Where it posts to; undefined: to the address of the page. */
  readonly action: string | undefined
  /** Hidden inputs that are not switched off, by name. */
  readonly hidden: Map<string, string>
  /** Names of what a person fills in. */
  readonly fields: ReadonlySet<string>
  /** What is wrong, as the page or its script says it. */
  readonly message: string | undefined
}

/** Undefined for a page without a form. What is in a template of the form counts; comments and other scripts don't. */
export function readForm(page: string): PageForm | undefined {
  const start = page.indexOf('<form')
  if (start === -1) return undefined
  const form = page.slice(start, page.indexOf('</form>', start)).replaceAll(/<script>[\s\S]*?<\/script>/gu, '')
  const hidden = new Map<string, string>()
  const fields = new Set<string>()
  for (const [input] of form.matchAll(/<input\b[^>]*>/gu)) {
    const name = attribute(input, 'name')
    if (name === undefined || /\sdisabled\b/u.test(input) || attribute(input, 'type') === 'checkbox') continue
    if (attribute(input, 'type') === 'hidden') hidden.set(name, attribute(input, 'value') ?? '')
    else fields.add(name)
  }
  for (const [name, value] of variables(page)) if (!hidden.has(name)) hidden.set(name, value)
  return {
    action: attribute(/<form\b[^>]*>/u.exec(form)?.[0] ?? '', 'action'),
    hidden,
    fields,
    message: messageOf(page),
  }
}

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`, 'u').exec(tag)?.[1]
  return value === undefined ? undefined : decodeText(value)
}

/** What the passcode page has in a script, where it has no hidden input for it. */
function variables(page: string): readonly (readonly [name: string, value: string])[] {
  return [...page.matchAll(/<script>var (transaction_id|_csrf) = ("(?:[^"\\]|\\.)*");<\/script>/gu)].map(
    ([, name = '', value = '']) => [name, String(JSON.parse(value))] as const,
  )
}

function messageOf(page: string): string | undefined {
  const shown = /<p class="message" role="alert">([^<]*)</u.exec(page)?.[1]
  if (shown !== undefined) return decodeText(shown)
  const { _: messages }: { readonly _?: readonly string[] } = JSON.parse(
    /var messages = (\{[^\n]*\});/u.exec(page)?.[1] ?? '{}',
  )
  return messages?.[0]
}
