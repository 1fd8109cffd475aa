/**
 * The login page as recordings have it, for clients that read it with regular expressions: no decoys, one hidden input a
 * line.
 */
import { html, type Markup } from './html.ts'
import { captchaWidget } from './captcha.ts'
import { givenIdentity, hiddenInputs, inTemplate, type LoginPageContent } from './login-page.ts'
import type { Settings } from '../options/options.ts'
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
        ${content.isSecondPage ? givenIdentity(content) : identityInput(content)}
        ${content.asksFor === 'credential' && credentialInput} ${captcha !== undefined && captchaInput(captcha.kind)}
        <button type="submit">Sign in</button>
        <button type="submit" class="plain" name="${content.cancelName}" value="1" formnovalidate>Cancel</button>
      </form>`,
  )
}

function messages(message: string | undefined): Markup {
  return { markup: `<script>var messages = ${JSON.stringify(message === undefined ? {} : { _: [message] })};</script>` }
}

function identityInput({ identity = '' }: LoginPageContent): Markup {
  return html`<label for="identity">Email</label>
    <input type="email" name="identity" value="${identity}" id="identity" autocomplete="username" required />`
}

const credentialInput = html`<label for="credential">Password</label>
  <input type="password" name="credential" id="credential" autocomplete="current-password" required />`

function captchaInput(kind: Settings['captchaKind']): Markup {
  return kind === 'picture' ? captchaInputs : captchaWidget(kind)
}

const captchaInputs = html`<label for="captcha">Captcha</label>
  <img src="/captcha" alt="captcha" width="160" height="48" />
  <input type="text" name="captcha" id="captcha" autocomplete="off" required />`
