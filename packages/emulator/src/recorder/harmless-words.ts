/**
 * The words that a recording shows, and whatever is made of them alone: those of the interface's own names and values, of forms, and
 * by which a page says what is wrong. Everything else is masked, whatever it is.
 */
import { plainFields } from '../support/plain-fields.ts'

const harmless = new Set(
  [
    Object.values(plainFields).flat(),
    // Names and values of the interface.
    'access_token refresh_token id_token credential password passcode pass verifier csrf transaction backup sid sso captcha',
    'oauth2 v3 authorize void callback mfa factors verify authorization_code ownerapi openid email phone offline_access',
    's256 totp bearer authenticate approved flagged valid data grant request response invalid required exchange replay err',
    'origin path cookie',
    // Media types, and what forms and scripts are made of.
    'application x www form urlencoded json text html xml plain utf charset a body br button class content div doctype en for',
    'h1 h2 h3 head hidden img input label lang li link meta method get post action value p span script src href style template',
    'submit disabled checked image alt role alert var const let window document true false null iframe enctype fieldset none',
    'g recaptcha h hcaptcha cf turnstile grecaptcha enterprise render execute sitekey',
    // What is wrong.
    'an and again are as be been by can could did do does expired failed has have incorrect is it later match not now of or out',
    'please recognised recognized session sign signed temporarily that the this timed to try unable unavailable user username',
    'was we welcome went with wrong you your account locked maintenance attention automated blocked browser challenge checking',
    'denied enable human incident interruption javascript just moment one pardon reference rejected requires robot security',
    'something sorry temporary traffic unusual used already verification verifying mail log service error',
  ]
    .flat()
    .flatMap((names) => names.split(/[ _]|(?=[A-Z])/u))
    .map((word) => word.toLowerCase()),
)

/** Whether a text is made of harmless words, numbers of one or two digits, and signs. */
export function isHarmless(text: string): boolean {
  return !text.includes('{{') && (text.match(runs) ?? []).every(isHarmlessRun)
}

/** Letters, digits and all that is not ASCII, in a row. */
export const runs: RegExp = /[^\s!-/:-@[-`{-~]+/gu

export function isHarmlessRun(run: string): boolean {
  if (isWord(run) || /^\d{1,2}$/u.test(run)) return true
  return run.split(/(?<=[a-z])(?=[A-Z])/u).every((word) => word.length > 1 && isWord(word))
}

function isWord(word: string): boolean {
  return harmless.has(word.toLowerCase())
}
