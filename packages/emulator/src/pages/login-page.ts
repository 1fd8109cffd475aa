/**
 * The login page (interface document, endpoint 1): a form with hidden inputs, amid what real pages have around one.
 */
import { captchaPicture, captchaWidget } from './captcha.ts'
import { html, type Markup } from './html.ts'
import type { Settings } from '../options/options.ts'
import { page } from './page.ts'

export interface LoginPageContent {
  /** Where the form posts to. */
  readonly action: string
  /** Names and values of the hidden inputs. */
  readonly hidden: ReadonlyMap<string, string>
  /** Name of the input that cancels the login, and of the one that continues it. */
  readonly cancelName: string
  readonly identity?: string | undefined
  /** What is wrong; the page's script names it, too. */
  readonly message?: string | undefined
  readonly messageInScript?: boolean | undefined
  /** The captcha, where one is asked for. */
  readonly captcha?: { readonly letters: string; readonly kind: Settings['captchaKind'] } | undefined
  readonly asksFor: 'identity' | 'credential'
  /** The e-mail was given on the page before. */
  readonly isSecondPage: boolean
  /** The hidden inputs stand inside a script template. */
  readonly inTemplate?: boolean | undefined
}

/** The script that real pages carry: what is wrong, if anything, and markup that only looks like inputs. */
function script(message: string | undefined): Markup {
  const messages = JSON.stringify(message === undefined ? {} : { _: [message] })
  return {
    markup: `<script>
      var messages = ${messages};
      var legacy = '<input type="hidden" name="_csrf" value="from-a-script">';
    </script>`,
  }
}

export function loginPage(content: LoginPageContent): string {
  const hidden = hiddenInputs(content.hidden)
  return page(
    'Sign in',
    html`<h1>Sign in</h1>
      <!-- <input type="hidden" name="_csrf" value="from-a-comment"> -->
      ${script(content.message)}
      ${content.message !== undefined && !content.messageInScript && html`<p class="message" role="alert">${content.message}</p>`}
      <form method="post" action="${content.action}" id="form">
        ${content.inTemplate ? inTemplate(hidden) : hidden}
        <input type="hidden" name="disabled_field" value="never sent" disabled />
        ${content.isSecondPage ? givenIdentity(content) : identityInput(content)}
        ${content.asksFor === 'credential' && credentialInput}
        ${content.captcha !== undefined && captchaInput(content.captcha)}
        <label><input type="checkbox" name="remember" value="1" /> Remember me</label>
        <button type="submit">Sign in</button>
        <button type="submit" class="plain" name="${content.cancelName}" value="1" formnovalidate>Cancel</button>
      </form>`,
  )
}

export function hiddenInputs(values: ReadonlyMap<string, string>): Markup[] {
  return [...values].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)
}

/** Inputs that a page's own script puts in place; a reader of the HTML finds them inside the template. */
export function inTemplate(inputs: Markup | readonly Markup[]): Markup {
  return html`<script type="text/html" class="template">
      ${inputs}
    </script>
    <script>
      for (const template of document.querySelectorAll('.template')) {
        template.insertAdjacentHTML('afterend', template.textContent)
      }
    </script>`
}

/** As recorded: a later page has the e-mail as a hidden input. */
export function givenIdentity({ identity = '' }: LoginPageContent): Markup {
  return html`<p>${identity}</p>
    <input type="hidden" name="identity" value="${identity}" />`
}

function identityInput({ identity = '' }: LoginPageContent): Markup {
  return html`<label for="identity">Email</label>
    <input id="identity" name="identity" type="email" autocomplete="username" value="${identity}" required />`
}

const credentialInput: Markup = html`<label for="credential">Password</label>
  <input id="credential" name="credential" type="password" autocomplete="current-password" required />`

function captchaInput({ letters, kind }: NonNullable<LoginPageContent['captcha']>): Markup {
  if (kind !== 'picture') return captchaWidget(kind)
  return html`<label for="captcha">Captcha</label>
    ${captchaPicture(letters)}
    <input id="captcha" name="captcha" type="text" autocomplete="off" required />`
}
