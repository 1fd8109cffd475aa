/**
 * The three pages of a sign-in: e-mail and password, the passcode, and the way over the service's own page.
 */
import type { Factor } from '@owner-sso/core'
import { html } from 'hono/html'
import { visible } from '../../visible.ts'
import { card, type Html, type Notice, noticeBox, type PageContext, tokenField } from './layout.ts'

export interface SignInPage extends PageContext {
  /** Whose sign-in it is to be; `undefined`: an account that is new here. */
  readonly account?: string | undefined
  /** What was typed before; never the password. */
  readonly identity: string
  readonly notice?: Notice | undefined
}

export function signInPage(page: SignInPage): Html {
  const { account, path, identity, notice } = page
  const title = account === undefined ? 'Sign an account in' : 'Sign in again'
  const passwordFirst = identity !== ''
  return card(
    page,
    title,
    html`${noticeBox(notice)}
      <form method="post" action="${path}/sign-in">
        ${tokenField(page.formToken)} ${accountField(account)}
        <label for="identity">E-mail</label>
        <input
          class="input"
          id="identity"
          name="identity"
          type="email"
          value="${identity}"
          autocomplete="username"
          required
          ${passwordFirst ? '' : 'autofocus'}
        />
        <label for="credential">Password</label>
        <input
          class="input"
          id="credential"
          name="credential"
          type="password"
          autocomplete="current-password"
          required
          ${passwordFirst ? 'autofocus' : ''}
        />
        <button class="button" type="submit">Sign in</button>
      </form>
      <p class="small quiet">
        Asked to prove that you are a person?
        <a href="${path}/sign-in/browser${query(account)}">Sign in on the service’s own page</a> instead.
      </p>`,
  )
}

export interface PasscodePage extends PageContext {
  readonly identity: string
  readonly factors: readonly Factor[]
  /** The factor chosen before. */
  readonly chosen?: string | undefined
  readonly notice?: Notice | undefined
}

export function passcodePage(page: PasscodePage): Html {
  const selected = page.factors.find(({ id }) => id === page.chosen) ?? page.factors[0]
  return card(
    page,
    'Enter your passcode',
    html`${noticeBox(page.notice)}
      <p class="quiet">
        Signing in as ${visible(page.identity)}. Your authenticator app shows a passcode, or use a backup code.
      </p>
      <form method="post" action="${page.path}/sign-in/passcode">
        ${tokenField(page.formToken)}
        <fieldset>
          <legend>Which device shows it?</legend>
          ${page.factors.map(
            (factor) =>
              html`<label class="choice">
                <input type="radio" name="factor" value="${factor.id}" ${factor === selected ? 'checked' : ''} />
                ${visible(factor.name)}
              </label>`,
          )}
        </fieldset>
        <label for="passcode">Passcode</label>
        <input
          class="input code"
          id="passcode"
          name="passcode"
          autocomplete="one-time-code"
          autocapitalize="none"
          spellcheck="false"
          maxlength="32"
          required
          autofocus
        />
        <button class="button" type="submit">Continue</button>
      </form>`,
  )
}

export interface BrowserPage extends PageContext {
  readonly account?: string | undefined
  /** The service's login page for this sign-in. */
  readonly url: string
  readonly notice?: Notice | undefined
}

export function browserPage(page: BrowserPage): Html {
  const redirectUri = new URL(page.url).searchParams.get('redirect_uri')
  return card(
    page,
    'Sign in on the service’s page',
    html`${noticeBox(page.notice)}
      <p class="quiet">For accounts that are asked for a captcha. The broker never sees your password.</p>
      <ol class="steps">
        <li>
          <a class="button" href="${page.url}" target="_blank" rel="noopener noreferrer">Open the service’s page</a>
          <span class="small quiet"
            >Sign in there${page.account === undefined ? '' : html` as ${visible(page.account)}`}.</span
          >
        </li>
        <li>
          You end on a page that was not found. That is right. Copy its whole address; it starts with
          <code>${redirectUri}?code=</code>
        </li>
        <li>
          <form method="post" action="${page.path}/sign-in/browser">
            ${tokenField(page.formToken)} ${accountField(page.account)}
            <label for="callbackUrl">Paste it here</label>
            <textarea
              class="input"
              id="callbackUrl"
              name="callbackUrl"
              rows="3"
              autocomplete="off"
              spellcheck="false"
              required
            ></textarea>
            <button class="button" type="submit">Sign in</button>
          </form>
        </li>
      </ol>`,
  )
}

/** The part of an address that says whose sign-in it is. */
export function query(account: string | undefined): string {
  return account === undefined ? '' : `?account=${encodeURIComponent(account)}`
}

function accountField(account: string | undefined): Html {
  return account === undefined ? html`` : html`<input type="hidden" name="account" value="${account}" />`
}
