/**
 * The page for signing in on the service's own page and bringing the address back.
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

export interface BrowserSignInPage extends FormContext {
  /** The service's login page for this sign-in. */
  readonly url: string
  /** Where the service sends the browser afterwards: a page that does not exist (interface document, endpoint 1). */
  readonly redirectUri: string
  readonly problem?: Notice
  readonly complaints?: Complaints
  readonly demo?: Html
}

export function browserSignInPage(page: BrowserSignInPage): Html {
  const { complaints = {} } = page
  return layout(
    { title: 'Sign in on the service’s page', narrow: true },
    html`<section class="card">
        <div class="lead">
          <h1>Sign in on the service’s page</h1>
          <p class="quiet">For accounts that are asked for a captcha. This portal never sees your password.</p>
        </div>
        ${noticeBox(page.problem, 'bad')}
        <ol class="steps">
          <li>
            <h2>Sign in there</h2>
            <a class="button" href="${page.url}" target="_blank" rel="noopener noreferrer">Open the service’s page</a>
            <p class="small quiet">It opens in a new tab.</p>
          </li>
          <li>
            <h2>Copy the address you end on</h2>
            <p>
              You end on a page that was not found. That is right. Its address starts with
              <code>${page.redirectUri}?code=</code>
            </p>
          </li>
          <li>
            <h2>Paste it here</h2>
            <form method="post" action="/sign-in/browser" novalidate>
              ${csrfField(page.csrfToken)}
              <div class="field">
                <label for="callbackUrl">The whole address</label>
                <textarea
                  class="input"
                  id="callbackUrl"
                  name="callbackUrl"
                  rows="3"
                  inputmode="url"
                  autocomplete="off"
                  autocapitalize="none"
                  spellcheck="false"
                  required
                  ${complaintAttributes('callbackUrl', complaints)}
                ></textarea>
                ${complaint('callbackUrl', complaints)}
              </div>
              <button class="button" type="submit">Sign in</button>
            </form>
          </li>
        </ol>
        <p class="small quiet"><a href="/sign-in">Back to e-mail and password</a></p>
      </section>
      ${page.demo}`,
  )
}
