/**
 * The login page's form: which one it is, and the hidden inputs that have to be posted back (interface document, "Hidden
 * form fields": names may change, so none is expected; endpoint 2).
 */
import type { HtmlForm, HtmlInput, HtmlPage } from './html-page.ts'

/** Names and values in the page's order. Pairs, not an object: a name may occur twice, or be `__proto__`. */
export type HiddenInputs = readonly (readonly [name: string, value: string])[]

/** What step 2 needs of the login page. */
export interface LoginForm {
  readonly hiddenInputs: HiddenInputs
  /** Whether it wants a captcha solved. */
  readonly captcha: boolean
}

/**
 * The form that asks for a credential; `undefined` where the page has none. Its `action` is ignored: the form is always
 * posted to the authorize endpoint that served it.
 */
export function findLoginForm({ forms, looseInputs }: HtmlPage): LoginForm | undefined {
  const form =
    forms.find((each) => has(each, ({ name, type }) => name === 'credential' || type === 'password')) ??
    forms.find((each) => has(each, ({ name }) => name === 'identity')) ??
    onlyOne(forms.filter((each) => has(each, isHidden)))
  if (!form && !looseInputs.some(({ name }) => name === 'credential')) return undefined
  const own = form?.inputs.filter(isHidden) ?? []
  return {
    // A form built by a script may leave its hidden inputs beside it; another form's are never taken.
    hiddenInputs: postedBack(own.length > 0 ? own : looseInputs.filter(isHidden)),
    captcha: (form?.inputs ?? looseInputs).some(({ name, type }) => name === 'captcha' && type !== 'hidden'),
  }
}

/** The first value of a hidden input. */
export function hiddenInput(inputs: HiddenInputs, name: string): string | undefined {
  return inputs.find(([each]) => each === name)?.[1]
}

/** All but those that would stand in for what the person typed; a pair that stands twice in the page is posted once. */
function postedBack(inputs: readonly HtmlInput[]): HiddenInputs {
  const pairs = inputs
    .filter(({ name }) => name !== '' && name !== 'identity' && name !== 'credential')
    .map(({ name, value }) => [name, value] as const)
  return [...new Map(pairs.map((pair) => [JSON.stringify(pair), pair])).values()]
}

const isHidden = ({ type }: HtmlInput): boolean => type === 'hidden'

function has(form: HtmlForm, condition: (input: HtmlInput) => boolean): boolean {
  return form.inputs.some(condition)
}

function onlyOne<T>(list: readonly T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined
}
