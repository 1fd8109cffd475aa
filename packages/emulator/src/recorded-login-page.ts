/** The login page as recordings have it, for clients that read it with regular expressions: no decoys, one hidden input a line. */
import { html, type Markup } from './html.ts'
import { hiddenInputs, inTemplate, type LoginPageContent } from './login-page.ts'
import { page } from './page.ts'

/** Such clients take the first match of the whole text, so that nothing before the form may look like an input of it. */
export function recordedLoginPage(content: LoginPageContent): string {
  const { message, captcha } = content
  const hidden: Markup = {
    markup: hiddenInputs(content.hidden)
      .map(({ markup }) => `${markup}\n`)
      .join(''),
  }
  return page(
    'Sign in',
    html`<h1>Sign in</h1>
      ${messages(message)}
      ${message !== undefined && !content.messageInScript && html`<p class="message" role="alert">${message}</p>`}
      <form method="post" id="form" class="sign-in">
        ${content.inTemplate ? inTemplate(hidden) : hidden}
        <label for="identity">Email</label>
        <input
          type="email"
          name="identity"
          value="${content.identity ?? ''}"
          id="identity"
          autocomplete="username"
          required
        />
        <label for="credential">Password</label>
        <input type="password" name="credential" id="credential" autocomplete="current-password" required />
        ${captcha !== undefined && CAPTCHA}
        <button type="submit">Sign in</button>
        <button type="submit" class="plain" name="${content.cancelName}" value="1" formnovalidate>Cancel</button>
      </form>`,
  )
}

function messages(message: string | undefined): Markup {
  return { markup: `<script>var messages = ${JSON.stringify(message === undefined ? {} : { _: [message] })};</script>` }
}

const CAPTCHA = html`<label for="captcha">Captcha</label>
  <img src="/captcha" alt="captcha" width="160" height="48" />
  <input type="text" name="captcha" id="captcha" autocomplete="off" required />`
