/**
 * The login page (interface document, endpoint 1): a form with hidden inputs, amid what real pages have around one.
 */
import { encodeText, html, type Markup } from '../support/markup.ts'
import { captchaPicture } from './captcha.ts'
import { page, startPageLink } from './page.ts'
import type { EmulatorSettings } from '../options/check-options.ts'
import { authorizeEndpointPath } from '../state/authorization-request.ts'
import type { Session } from '../state/sessions.ts'
import { isLenient } from '../state/strictness.ts'

/** What the page says is wrong, and the e-mail that it knows. */
export interface LoginPageContent {
  readonly message?: string | undefined
  readonly identity?: string | undefined
}

/**
 * As recordings have it with strictness lenient, for clients that take the first match of the whole text: without decoys, and
 * without an action.
 */
export function loginPage(session: Session, settings: EmulatorSettings, content: LoginPageContent): string {
  const { message, identity = '' } = content
  const { captcha, asksFor } = session
  const recorded = isLenient(settings)
  const hidden = hiddenInputs(session.hidden)
  const isSecondPage = settings.identityFirst && asksFor === 'credential'
  const inputs = html`${session.inTemplate ? inTemplate(hidden) : hidden}
    ${isSecondPage ? givenIdentity(identity) : identityInput(identity)} ${asksFor === 'credential' && credentialInput}
    ${captcha !== undefined && captchaInput(captcha, recorded)} ${!recorded && moreInputs}
    <button type="submit">Sign in</button>
    <button type="submit" class="plain" name="${session.names.cancel}" value="1" formnovalidate>Cancel</button>`
  return page(
    'Sign in',
    html`<h1>Sign in</h1>
      ${!recorded && decoys} ${script(message)}
      ${message !== undefined && html`<p class="message" role="alert">${message}</p>`}
      ${form(recorded ? undefined : formAction(session), inputs)} ${!recorded && settings.inspector && startPageLink}`,
  )
}

/** The query of endpoint 1 without its `login_hint`. */
export function formAction({ request }: Session): string {
  return `${authorizeEndpointPath}?${new URLSearchParams(request.parameters).toString()}`
}

/** Without an action it posts to the page's own address. */
function form(action: string | undefined, inputs: Markup): Markup {
  const where = action === undefined ? '' : ` action="${encodeText(action)}"`
  return { markup: `<form method="post"${where} id="form" class="sign-in">\n${inputs.markup}\n</form>` }
}

/** What is wrong, if anything, as real pages have it in a script. */
function script(message: string | undefined): Markup {
  return { markup: `<script>var messages = ${JSON.stringify(message === undefined ? {} : { _: [message] })};</script>` }
}

/** Markup that only looks like inputs: a client that does not read the page as a browser does meets it. */
const decoys: Markup = {
  markup: `<!-- <input type="hidden" name="_csrf" value="from-a-comment"> -->
    <script>var legacy = '<input type="hidden" name="_csrf" value="from-a-script">';</script>`,
}

/** Inputs that are sent only if a person ticks them, or never. */
const moreInputs = html`<input type="hidden" name="disabled_field" value="never sent" disabled />
  <label><input type="checkbox" name="remember" value="1" /> Remember me</label>`

/** One a line, as recorded: some clients read them with regular expressions. */
export function hiddenInputs(values: ReadonlyMap<string, string>): Markup {
  const inputs = [...values].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)
  return { markup: inputs.map(({ markup }) => `${markup}\n`).join('') }
}

/** Inputs that a page's own script puts in place; a reader of the HTML finds them inside the template. */
export function inTemplate(inputs: Markup): Markup {
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
function givenIdentity(identity: string): Markup {
  return html`<p>${identity}</p>
    <input type="hidden" name="identity" value="${identity}" />`
}

function identityInput(identity: string): Markup {
  return html`<label for="identity">E-mail</label>
    <input type="email" name="identity" value="${identity}" id="identity" autocomplete="username" required />`
}

const credentialInput = html`<label for="credential">Password</label>
  <input type="password" name="credential" id="credential" autocomplete="current-password" required />`

/** The recorded page fetches its picture. */
function captchaInput(letters: string, recorded: boolean): Markup {
  const fetched = html`<img src="/captcha" alt="captcha" width="160" height="48" />`
  return html`<label for="captcha">Captcha</label>
    ${recorded ? fetched : captchaPicture(letters)}
    <input type="text" name="captcha" id="captcha" autocomplete="off" required />`
}
