/**
 * Captchas of other companies (reCAPTCHA, hCaptcha, Turnstile): only a person in a browser can solve them. Their script alone is not a captcha: pages load it long before they ask for anything.
 */

const widgetClass = /(?:^|\s)(?:g-recaptcha|h-captcha|cf-turnstile)(?:\s|$)/iu
const responseField = /^(?:g-recaptcha|h-captcha|cf-turnstile)-response/iu
const frameAddress = /recaptcha\/|hcaptcha\.com\/|challenges\.cloudflare\.com\//iu
const drawnByScript = /\b(?:grecaptcha|hcaptcha|turnstile)(?:\.enterprise)?\.(?:render|execute)\s*\(/u

/** Whether an element is a widget, or the field or the frame that belongs to one. */
export function isCaptchaWidget(name: string, attributes: Readonly<Record<string, string>>): boolean {
  const { class: classes, name: field, src = '' } = attributes
  if (Object.hasOwn(attributes, 'data-sitekey')) return true
  if (classes !== undefined && widgetClass.test(classes)) return true
  return (field !== undefined && responseField.test(field)) || (name === 'iframe' && frameAddress.test(src))
}

/** Whether a script puts a widget in its place, or asks for its answer. */
export function drawsCaptchaWidget(script: string): boolean {
  return drawnByScript.test(script)
}
