/**
 * The page where a person types their e-mail and password.
 */
import { html } from 'hono/html'
import {
  complaint,
  complaintAttributes,
  type Complaints,
  csrfField,
  type FormContext,
  type Notice,
  noticeBox,
} from './form.ts'
import { type Html, layout } from './layout.ts'

export interface SignInPage extends FormContext {
  /** What was typed before; never the password. */
  readonly identity?: string
  /** Where to go after the sign-in: a path of this portal. */
  readonly returnTo: string
  readonly problem?: Notice
  readonly news?: Notice
  readonly complaints?: Complaints
  readonly demo?: Html
}

export function signInPage(page: SignInPage): Html {
  const { identity = '', complaints = {} } = page
  // The cursor starts where typing goes on.
  const passwordFirst = identity !== '' && !complaints['identity']
  return layout(
    { title: 'Sign in', narrow: true },
    html`${noticeBox(page.news, 'good')}
      <section class="card">
        <div class="lead">
          <h1>Sign in</h1>
          <p class="quiet">With your vehicle owner account.</p>
        </div>
        ${noticeBox(page.problem, 'bad')}
        <form method="post" action="/sign-in" novalidate>
          ${csrfField(page.csrfToken)}
          <input type="hidden" name="returnTo" value="${page.returnTo}" />
          <div class="field">
            <label for="identity">E-mail</label>
            <input
              class="input"
              id="identity"
              name="identity"
              type="email"
              value="${identity}"
              autocomplete="username"
              autocapitalize="none"
              spellcheck="false"
              required
              ${passwordFirst ? '' : 'autofocus'}
              ${complaintAttributes('identity', complaints)}
            />
            ${complaint('identity', complaints)}
          </div>
          <div class="field">
            <label for="credential">Password</label>
            <input
              class="input"
              id="credential"
              name="credential"
              type="password"
              autocomplete="current-password"
              required
              ${passwordFirst ? 'autofocus' : ''}
              ${complaintAttributes('credential', complaints)}
            />
            ${complaint('credential', complaints)}
          </div>
          <button class="button" type="submit">Sign in</button>
        </form>
        <p class="small quiet">
          Asked to prove that you are a person?
          <a href="/sign-in/browser">Sign in on the service’s own page</a> instead.
        </p>
      </section>
      ${page.demo}`,
  )
}
