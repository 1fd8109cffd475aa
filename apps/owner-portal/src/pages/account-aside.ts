/**
 * The corner of a signed-in owner's pages.
 */
import { html } from 'hono/html'
import { csrfField, type Html } from '@owner-sso/sign-in-pages'

/** Who is signed in, and the way out. */
export function accountAside(account: string, csrfToken: string): Html {
  return html`<div class="who">
    <span class="quiet small">${account}</span>
    <form method="post" action="/sign-out">
      ${csrfField(csrfToken)}<button class="button plain small" type="submit">Sign out</button>
    </form>
  </div>`
}
