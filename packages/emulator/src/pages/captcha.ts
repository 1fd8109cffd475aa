/**
 * The captcha of accounts that meet one: letters a person types off a picture.
 */
import { randomInt } from 'node:crypto'
import type { Account } from '../state/accounts.ts'
import type { Session } from '../state/sessions.ts'
import type { Markup } from '../support/markup.ts'

/** No two of these letters look alike. */
const captchaAlphabet = 'ABCDEFHKLMNPRTUVWXYZ'

export function captchaLetters(): string {
  return Array.from({ length: 5 }, () => captchaAlphabet[randomInt(captchaAlphabet.length)]).join('')
}

/** What the page says about a submission's captcha, or undefined if it is right or none is due. Shows a new one. */
export function captchaProblem(
  session: Session,
  account: Account | undefined,
  typed: string | null,
): string | undefined {
  const { captcha } = session
  if (captcha === undefined && !account?.captcha) return undefined
  if (captcha !== undefined && typed?.trim().toUpperCase() === captcha) return undefined
  session.captcha = captchaLetters()
  return typed ? 'Captcha does not match' : 'Recaptcha is required'
}

/** The letters as a picture, each as text of its own. They need no encoding. */
export function captchaPicture(letters: string): Markup {
  const drawn = Array.from(letters, (letter, index) => {
    const place = `x="${12 + index * 22}" y="26" rotate="${(index % 3) * 14 - 14}"`
    return `<text ${place} fill="currentColor" font-size="22">${letter}</text>`
  })
  const frame = 'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 36" role="img" aria-label="captcha"'
  return { markup: `<svg ${frame}>${drawn.join('')}</svg>` }
}
