/** Switches that a login meets: its pages, its accounts, its lifetimes. */
import { expect } from '@jest/globals'
import { logIn, logInLate, logInWithPasscode, mistype, plain, tokens, unusable, type Row } from './calls.ts'

export const loginRows: readonly Row[] = [
  { when: 'mfaAt', set: (to) => to.change({ mfaAt: 'form-submission' }), call: logInWithPasscode, ends: tokens },
  {
    when: 'codeChallengeEncoding, the other one',
    set: (to) => to.change({ codeChallengeEncoding: 'raw-digest' }),
    call: logIn,
    ends: { code: 'ERR_SSO_TOKEN_REJECTED', error: 'invalid_request' },
  },
  {
    when: 'codeChallengeEncoding, its own',
    set: (to) => to.change({ codeChallengeEncoding: 'raw-digest' }),
    call: logIn,
    options: { codeChallengeEncoding: 'raw-digest' },
    ends: tokens,
  },
  { when: 'strictness', set: (to) => to.change({ strictness: 'lenient' }), call: logInWithPasscode, ends: tokens },
  {
    when: 'a session that ended before the form came',
    set: (to) => to.once('login-page', () => to.clock.advance(901)),
    call: logIn,
    ends: { code: 'ERR_SSO_UNEXPECTED_RESPONSE', status: 403 },
  },
  {
    when: 'a passcode that comes too late',
    set: () => undefined,
    call: logInLate,
    ends: { code: 'ERR_SSO_PENDING_LOGIN_EXPIRED' },
  },
  { when: 'the clock, frozen', set: (to) => to.clock.freeze(), call: logInWithPasscode, ends: tokens },
  {
    when: 'the clock, in another year',
    set: (to) => to.clock.jump(2_000_000_000),
    call: logInWithPasscode,
    ends: tokens,
  },
  {
    when: 'a captcha before the form',
    set: (to) => to.account(plain).change({ captcha: true }),
    call: logIn,
    ends: { code: 'ERR_SSO_CAPTCHA_REQUIRED', step: 'login-page' },
  },
  {
    when: 'a captcha after the form',
    set: (to) => to.account(plain).change({ captcha: 'after-submission' }),
    call: logIn,
    ends: { code: 'ERR_SSO_CAPTCHA_REQUIRED', step: 'form-submission' },
  },
  {
    when: 'a locked account',
    set: (to) => to.account(plain).change({ locked: true }),
    call: logIn,
    ends: { code: 'ERR_SSO_ACCOUNT_LOCKED' },
  },
  {
    when: 'a locked account, said in a script alone',
    set: (to) => {
      to.once('form-submission', sayInScriptAlone)
      to.account(plain).change({ locked: true })
    },
    call: logIn,
    ends: { code: 'ERR_SSO_ACCOUNT_LOCKED' },
  },
  {
    when: 'a wrong password that is answered with 200',
    set: (to) => to.once('form-submission', () => ({ status: 200 })),
    call: mistype,
    ends: { code: 'ERR_SSO_INVALID_CREDENTIALS', status: 200 },
  },
  {
    when: 'another region that is listed',
    set: (to) => to.account(plain).change({ region: 'regional' }),
    call: logIn,
    ends: { ...tokens, auth_url: expect.stringContaining('localhost') },
  },
  {
    when: 'another region that is not',
    set: (to) => to.account(plain).change({ region: 'regional' }),
    call: logIn,
    options: { regionalAuthUrls: [] },
    ends: { code: 'ERR_SSO_REGION_NOT_ALLOWED' },
  },
  {
    when: 'renamed hidden inputs',
    set: (to) =>
      to.change({
        hiddenInputs: { rename: { _csrf: 'check', transaction_id: 'tx' }, extra: { locale: 'en' }, inTemplate: true },
      }),
    call: logInWithPasscode,
    ends: tokens,
  },
  {
    when: 'passcodePage',
    set: (to) => to.change({ passcodePage: { inTemplate: true, duplicates: true } }),
    call: logInWithPasscode,
    ends: tokens,
  },
  {
    when: 'passcodePage without a _csrf, as recorded',
    set: (to) => to.change({ mfaAt: 'form-submission', passcodePage: { csrf: 'none', inTemplate: true } }),
    call: logInWithPasscode,
    ends: tokens,
  },
  {
    when: 'passcodePage with its _csrf in a script',
    set: (to) => to.change({ passcodePage: { csrf: 'script', inTemplate: true } }),
    call: logInWithPasscode,
    ends: tokens,
  },
  {
    when: 'formAfterPasscode',
    set: (to) =>
      to.change({
        mfaAt: 'form-submission',
        formAfterPasscode: 'transaction-id',
        passcodePage: { csrf: 'none', inTemplate: true },
      }),
    call: logInWithPasscode,
    ends: tokens,
  },
  {
    when: 'a bare list of factors',
    set: (to) => to.once<{ data: unknown }>('mfa-factors', ({ body }) => ({ body: body.data as { data: unknown } })),
    call: logInWithPasscode,
    ends: tokens,
  },
  {
    when: 'a list called factors',
    set: (to) => to.once<object>('mfa-factors', ({ body }) => ({ body: { factors: Object.values(body)[0] } })),
    call: logInWithPasscode,
    ends: tokens,
  },
  {
    when: 'identityFirst',
    set: (to) => to.change({ identityFirst: true }),
    call: logInWithPasscode,
    ends: tokens,
  },
  {
    when: 'identityFirst, with a wrong password',
    set: (to) => to.change({ identityFirst: true }),
    call: mistype,
    ends: { code: 'ERR_SSO_INVALID_CREDENTIALS', status: 401 },
  },
  {
    when: 'identityFirst, with all of a page in templates',
    set: (to) => to.change({ identityFirst: true, hiddenInputs: { rename: { _phase: 'stage' }, inTemplate: true } }),
    call: logIn,
    ends: tokens,
  },
  {
    when: 'a captcha after the form, said in a script alone',
    set: (to) => {
      to.once('form-submission', sayInScriptAlone)
      to.account(plain).change({ captcha: 'after-submission' })
    },
    call: logIn,
    ends: { code: 'ERR_SSO_CAPTCHA_REQUIRED', step: 'form-submission' },
  },
  {
    when: 'more parameters of the redirect',
    set: (to) =>
      to.once('form-submission', ({ headers }) => ({
        headers: { ...headers, location: `${String(headers['location'])}&locale=en-US` },
      })),
    call: logIn,
    ends: tokens,
  },
  {
    when: 'redirectUris without its own',
    set: (to) => to.change({ redirectUris: ['https://example.com/callback'] }),
    call: logIn,
    ends: { ...unusable, step: 'login-page', status: 400 },
  },
]

/** As recorded: the page's script alone says what is wrong. */
function sayInScriptAlone({ body }: { readonly body: unknown }): { readonly body: string } {
  return { body: String(body).replace(/<p class="message"[^>]*>[^<]*<\/p>/u, '') }
}
