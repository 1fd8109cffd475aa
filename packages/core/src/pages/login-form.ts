/**
 * The login page's form: which one it is, what it asks for, and the hidden inputs that have to be posted back (interface
 * document, "Hidden form fields": names may change, so none is expected; endpoint 2).
 */
import { drawsCaptchaWidget } from './captcha-widget.ts'
import type { HtmlForm, HtmlInput, HtmlPage } from './html-page.ts'

/** Names and values in the page's order. Pairs, not an object: a name may occur twice, or be `__proto__`. */
export type HiddenInputs = readonly (readonly [name: string, value: string])[]

/** What step 2 needs of the login page. */
export interface LoginForm {
  /** `identity`: for the e-mail alone, and the page that answers it asks for the password (recordings). */
  readonly asksFor: 'credential' | 'identity'
  readonly hiddenInputs: HiddenInputs
  /** Whether it wants a captcha solved. */
  readonly captcha: boolean
  /** Whether a person sees its field. One in a template may be shown later, or never. */
  readonly isShown: boolean
}

/**
 * The visible form that asks for the credential, else for the identity; else such a form that a script has yet to show;
 * `undefined` where the page has neither.
 *
 * Without such a field in it, nothing secret is ever posted. The form is always posted to the authorize endpoint that served
 * it: one whose `action` names another address does not belong to the login.
 */
export function findLoginForm(page: HtmlPage): LoginForm | undefined {
  const { looseInputs, hasLooseCaptchaWidget } = page
  const loose: HtmlForm = { inputs: looseInputs, action: undefined, hasCaptchaWidget: hasLooseCaptchaWidget }
  const forms = page.forms.filter(isOfThisEndpoint)
  // Visible fields outside of any form count as a form; those in a template may belong to anything.
  const shown = (name: string): HtmlForm[] => [...forms, loose].filter((form) => fieldOf(form, name)?.isShown)
  const anywhere = (name: string): HtmlForm[] => forms.filter((form) => fieldOf(form, name))
  const places = [shown('credential'), shown('identity'), anywhere('credential'), anywhere('identity')]
  const form = mostLikely(places.find((found) => found.length > 0) ?? [])
  if (!form) return undefined
  const asksFor = fieldOf(form, 'credential') ? 'credential' : 'identity'
  const own = form.inputs.filter(isHidden)
  const hasWidget = form.hasCaptchaWidget || hasLooseCaptchaWidget || page.scripts.some(drawsCaptchaWidget)
  return {
    asksFor,
    // A form built by a script may leave its hidden inputs outside of it; another form's are never taken.
    hiddenInputs: postedBack(own.length > 0 ? own : looseInputs.filter(isHidden)),
    captcha: hasWidget || [form, loose].some((each) => fieldOf(each, 'captcha') !== undefined),
    isShown: fieldOf(form, asksFor)?.isShown === true,
  }
}

/** Whether a page shows a captcha of another company anywhere. */
export function showsCaptchaWidget({ forms, hasLooseCaptchaWidget, scripts }: HtmlPage): boolean {
  return hasLooseCaptchaWidget || forms.some((form) => form.hasCaptchaWidget) || scripts.some(drawsCaptchaWidget)
}

/** The first value of a hidden input. */
export function hiddenInput(inputs: HiddenInputs, name: string): string | undefined {
  return inputs.find(([each]) => each === name)?.[1]
}

/** Of several forms: the one with an identity and hidden inputs; then the first. */
function mostLikely(forms: readonly HtmlForm[]): HtmlForm | undefined {
  return forms.toSorted((one, other) => weightOf(other) - weightOf(one))[0]
}

function weightOf({ inputs }: HtmlForm): number {
  return (inputs.some(({ name }) => name === 'identity') ? 2 : 0) + (inputs.some(isHidden) ? 1 : 0)
}

/** Whether a form goes to the endpoint that served it, in one of the ways that a page can say so. */
function isOfThisEndpoint({ action = '' }: HtmlForm): boolean {
  return /^(?:$|[?#]|(?:https?:\/\/[^/?#]*)?(?:\/[\w-]*)?\/oauth2\/v3\/authorize(?:$|[?#]))/iu.test(action.trim())
}

/** A field to fill in: a hidden or disabled input of that name is not one. */
function fieldOf({ inputs }: HtmlForm, name: string): HtmlInput | undefined {
  const fields = inputs.filter((input) => input.name === name && !isHidden(input) && !input.isDisabled)
  return fields.find(({ isShown }) => isShown) ?? fields[0]
}

/**
 * What a browser posts, but for what would stand in for what the person typed; a pair that stands twice in the page is posted
 * once.
 */
function postedBack(inputs: readonly HtmlInput[]): HiddenInputs {
  const pairs = inputs
    .filter(({ name, isDisabled }) => !isDisabled && name !== '' && name !== 'identity' && name !== 'credential')
    .map(({ name, value }) => [inLines(name), /^_charset_$/iu.test(name) ? 'UTF-8' : inLines(value)] as const)
  return [...new Map(pairs.map((pair) => [JSON.stringify(pair), pair])).values()]
}

/** Forms are posted with CRLF (HTML, "form data set"). */
function inLines(text: string): string {
  return text.replaceAll(/\r\n?|\n/gu, '\r\n')
}

function isHidden({ type }: HtmlInput): boolean {
  return type === 'hidden'
}
