/**
 * The entrance: a field for a code.
 */
import { card, csrfField, field, type Html, inputAttributes, type Notice, noticeBox } from '#sign-in-pages'
import { html } from 'hono/html'
import { page, type PageContext } from './page.ts'

export function entryPage(context: PageContext, problem?: Notice): Html {
  const title = 'Enter the code'
  const input = html`<input
    class="input code long"
    autocomplete="one-time-code"
    autocapitalize="characters"
    spellcheck="false"
    maxlength="40"
    autofocus
    ${inputAttributes('code')}
  />`
  const form = html`${noticeBox(problem, 'bad')}
    <pre><code>owner-sso broker code</code></pre>
    <form method="post" action="${context.path}/enter">
      ${csrfField(context.formToken)} ${field('code', 'Code', input)}
      <button class="button" type="submit">Enter</button>
    </form>`
  return page(context, title, card(title, 'Get a code where the broker runs. It works once, for ten minutes.', form))
}
