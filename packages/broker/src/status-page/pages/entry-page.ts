/**
 * The entrance: a field for a code.
 */
import { html } from 'hono/html'
import { card, type Html, type Notice, noticeBox, type PageContext, tokenField } from './layout.ts'

export function entryPage(context: PageContext, notice?: Notice): Html {
  return card(
    context,
    'Who are you?',
    html`${noticeBox(notice)}
      <p class="quiet">Get a code where the broker runs. It works once, for ten minutes.</p>
      <pre><code>owner-sso broker code</code></pre>
      <form method="post" action="${context.path}/enter">
        ${tokenField(context.formToken)}
        <label for="code">Code</label>
        <input
          class="input code"
          id="code"
          name="code"
          autocomplete="one-time-code"
          autocapitalize="characters"
          spellcheck="false"
          maxlength="20"
          required
          autofocus
        />
        <button class="button" type="submit">Enter</button>
      </form>`,
  )
}
