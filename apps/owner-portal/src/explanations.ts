/**
 * What each error means to the person in front of the page, and what they can do about it.
 */
import type { PasscodeRejection, SsoErrorCode } from '@owner-sso/core'
import { type Notice, waitingTime } from '@owner-sso/sign-in-pages'

/** Codes that the Passport strategy adds to core's. */
type FailureCode = SsoErrorCode | 'ERR_SSO_CREDENTIALS_MISSING' | 'ERR_SSO_CALLBACK_REQUIRED'

/** What a failure or an error says of itself. */
export interface Failure {
  readonly code: string
  /** Of a rejected passcode. */
  readonly reason?: string | undefined
  /** Passcodes that may still be tried. */
  readonly triesLeft?: number | undefined
  /** Seconds to wait before the next try. */
  readonly retryAfter?: number | undefined
}

const again = { href: '/sign-in', label: 'Sign in again' }
const onTheServicesPage = { href: '/sign-in/browser', label: 'Sign in on the service’s own page' }

const notices = {
  ERR_SSO_CREDENTIALS_MISSING: { title: 'Something is missing', text: 'Fill in the form and send it again.' },
  ERR_SSO_CALLBACK_REQUIRED: { title: 'The address is missing', text: 'Paste the address that you ended up on.' },
  ERR_SSO_INVALID_CREDENTIALS: {
    title: 'E-mail or password is not right',
    text: 'Check both and try again. Repeating the same pair can lock your account.',
  },
  ERR_SSO_ACCOUNT_LOCKED: {
    title: 'Your account is locked',
    text: 'The service has locked it. Unlock it on the service’s own website, then sign in here.',
  },
  ERR_SSO_CAPTCHA_REQUIRED: {
    title: 'The service wants to see that you are a person',
    text: 'It shows a picture to read, which works only on its own page.',
    link: onTheServicesPage,
  },
  ERR_SSO_PASSCODE_REQUIRED: { title: 'A passcode is needed', text: 'Enter the one that your device shows.' },
  ERR_SSO_PASSCODE_REJECTED: {
    title: 'This passcode is not right',
    text: 'Enter the one that the chosen device shows now.',
  },
  ERR_SSO_PENDING_LOGIN_EXPIRED: { title: 'This sign-in took too long', text: 'Sign in again from the start.' },
  ERR_SSO_REGION_NOT_ALLOWED: {
    title: 'Your account belongs to another region',
    text: 'This portal is not set up for that region yet. Your password was not sent there. Tell the operator of this portal.',
  },
  ERR_SSO_STATE_MISMATCH: {
    title: 'This address belongs to another sign-in',
    text: 'Open the service’s page with the button below, sign in there, and paste the address of that very page.',
  },
  ERR_SSO_ISSUER_MISMATCH: {
    title: 'This address comes from another service',
    text: 'Open the service’s page with the button below and paste the address that you end up on.',
  },
  ERR_SSO_TOKEN_REJECTED: {
    title: 'The service did not accept this sign-in',
    text: 'It may have been used before, or be too old. Start again.',
  },
  ERR_SSO_FIREWALL_CHALLENGE: {
    title: 'The service has paused sign-ins from this portal',
    text: 'Its firewall saw too many requests. Your password is not the reason.',
  },
  ERR_SSO_REAUTHENTICATION_REQUIRED: { title: 'Please sign in again', text: 'Your sign-in can no longer be renewed.' },
  ERR_SSO_SESSION_EXISTS: { title: 'You are signed in already', text: 'Nothing was changed.' },
  ERR_SSO_SIGNED_OUT: { title: 'You were signed out', text: 'Sign in again to see your vehicles.' },
  ERR_SSO_UNEXPECTED_RESPONSE: {
    title: 'The service answered something unexpected',
    text: 'Nothing was changed. If it persists, tell the operator of this portal.',
  },
  ERR_SSO_TIMEOUT: { title: 'The service did not answer in time' },
  ERR_SSO_UNREACHABLE: {
    title: 'The service can’t be reached',
    text: 'Check that the portal is connected to the network.',
  },
  ERR_SSO_REFRESH_IN_DOUBT: {
    title: 'The renewal’s answer was lost on the way',
    text: 'It resolves by itself.',
  },
  ERR_SSO_REFRESH_BUDGET: {
    title: 'Your sign-in can’t be renewed at the moment',
    text: 'It was renewed a moment ago, or many others are in line before it.',
  },
  ERR_SSO_SHORT_VALIDITY: { title: 'Your sign-in does not last as long as it would have to' },
  ERR_SSO_REFRESH_ELSEWHERE: { title: 'Nobody can sign in here', text: 'Tell the operator of this portal.' },
  ERR_SSO_STORE: { title: 'Your sign-in could not be stored or read' },
} satisfies Record<FailureCode, Notice>

/** What passes by itself: worth another try after a while. */
const passing = new Set<string>([
  'ERR_SSO_FIREWALL_CHALLENGE',
  'ERR_SSO_UNEXPECTED_RESPONSE',
  'ERR_SSO_TIMEOUT',
  'ERR_SSO_UNREACHABLE',
  'ERR_SSO_REFRESH_IN_DOUBT',
  'ERR_SSO_REFRESH_BUDGET',
  'ERR_SSO_STORE',
] satisfies SsoErrorCode[])

const rejectedPasscodes = {
  invalid: notices.ERR_SSO_PASSCODE_REJECTED,
  replayed: {
    title: 'This passcode was used before',
    text: 'Wait until your device shows the next one, and enter that.',
  },
  'unknown-factor': { title: 'This device is not known any more', text: 'Choose another one.' },
  'too-many-attempts': { title: 'Too many wrong passcodes', text: 'Sign in again from the start.', link: again },
} satisfies Record<PasscodeRejection, Notice>

/** The words for a failure; for an unknown code, words that fit any. */
export function explain({ code, reason, retryAfter, triesLeft }: Failure): Notice {
  const rejected = code === 'ERR_SSO_PASSCODE_REJECTED' ? lookUp(rejectedPasscodes, reason) : undefined
  const notice: Notice = rejected ?? lookUp(notices, code) ?? { title: 'Something went wrong' }
  const sentences = [notice.text]
  if (passing.has(code) || retryAfter !== undefined || !lookUp(notices, code)) {
    sentences.push(`Try again in ${retryAfter === undefined ? 'a minute' : waitingTime(retryAfter)}.`)
  }
  if (triesLeft) sentences.push(triesLeft === 1 ? 'One try is left.' : `${triesLeft} tries are left.`)
  return { ...notice, text: sentences.filter(Boolean).join(' ') }
}

/** Own entries only: a code comes from elsewhere and may be `__proto__`. */
function lookUp(table: Readonly<Record<string, Notice>>, key: string | undefined): Notice | undefined {
  return key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined
}
