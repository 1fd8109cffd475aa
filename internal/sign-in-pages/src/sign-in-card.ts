/**
 * Where a person types their e-mail and password.
 */
import { html } from 'hono/html'
import { type Complaints, csrfField, field, inputAttributes, type Notice, noticeBox } from './form.ts'
import { card, type Html } from './frame.ts'

export interface SignInCard {
  /** Below it are `/sign-in`, `/sign-in/passcode` and `/sign-in/browser`. */
  readonly base: string
  readonly csrfToken: string
  readonly title: string
  readonly lead?: string | undefined
  /** Whose sign-in it is to be; absent: of whoever signs in. */
  readonly account?: string | undefined
  /** What was typed before; never the password. */
  readonly identity: string
  readonly problem?: Notice | undefined
  readonly complaints?: Complaints | undefined
}

export function signInCard(page: SignInCard): Html {
  const { base, account, identity, complaints = {} } = page
  // The cursor starts where typing goes on.
  const passwordFirst = identity !== '' && complaints['identity'] === undefined
  const identityInput = html`<input
    class="input"
    type="email"
    value="${identity}"
    autocomplete="username"
    autocapitalize="none"
    spellcheck="false"
    ${passwordFirst ? '' : 'autofocus'}
    ${inputAttributes('identity', complaints)}
  />`
  const credentialInput = html`<input
    class="input"
    type="password"
    autocomplete="current-password"
    ${passwordFirst ? 'autofocus' : ''}
    ${inputAttributes('credential', complaints)}
  />`
  return card(
    page.title,
    page.lead,
    html`${noticeBox(page.problem, 'bad')}
      <form method="post" action="${base}/sign-in" novalidate>
        ${csrfField(page.csrfToken)} ${hiddenField('account', account)}
        ${field('identity', 'E-mail', identityInput, complaints)}
        ${field('credential', 'Password', credentialInput, complaints)}
        <button class="button" type="submit">Sign in</button>
      </form>
      <p class="small quiet">
        Asked to prove that you are a person?
        <a href="${base}/sign-in/browser${accountQuery(account)}">Sign in on the service’s own page</a> instead.
      </p>`,
  )
}

/** The part of an address that says whose sign-in it is. */
export function accountQuery(account: string | undefined): string {
  return account === undefined ? '' : `?account=${encodeURIComponent(account)}`
}

export function hiddenField(name: string, value: string | undefined): Html {
  return value === undefined ? html`` : html`<input type="hidden" name="${name}" value="${value}" />`
}
