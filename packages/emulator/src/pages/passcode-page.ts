/**
 * The page that asks an account with a second factor for its passcode, with a `_csrf` of its own (endpoints 3 to 5).
 */
import { formAction, hiddenInputs, inTemplate } from './login-page.ts'
import type { EmulatorSettings } from '../options/check-options.ts'
import type { Session } from '../state/sessions.ts'
import { isLenient } from '../state/strictness.ts'
import { page, startPageLink } from './page.ts'
import { html, type Markup } from '../support/markup.ts'

/** The transaction id stands in a script as well with strictness lenient, as recorded. */
export function passcodePage(session: Session, settings: EmulatorSettings, csrf: string): string {
  const { transactionId } = session
  const recorded = isLenient(settings)
  const { csrf: csrfAt = 'input', inTemplate: isInTemplate = recorded, duplicates = false } = settings.passcodePage
  const named: [string, string][] = csrfAt === 'none' ? [] : [['transaction_id', transactionId]]
  const hidden = hiddenInputs(new Map(csrfAt === 'input' ? [['_csrf', csrf], ...named] : named))
  const inputs = html`${hidden} ${duplicates && hidden}
    <label for="factor">Device</label>
    <select id="factor"></select>
    <label for="passcode">Passcode</label>
    <input id="passcode" name="passcode" inputmode="numeric" autocomplete="one-time-code" maxlength="6" />`
  return page(
    'Passcode',
    html`<h1>Enter your passcode</h1>
      <p class="note">Open the authenticator of your device and type the passcode it shows.</p>
      <p class="message" role="alert" id="message" hidden></p>
      <form method="post" action="${formAction(session)}" id="form">
        ${isInTemplate ? inTemplate(inputs) : inputs}
        <button type="submit">Continue</button>
      </form>
      ${!recorded && settings.inspector && startPageLink}
      ${(recorded || csrfAt === 'none') && variable('transaction_id', transactionId)}
      ${csrfAt === 'script' && variable('_csrf', csrf)}
      <noscript><p class="note">Passcodes are sent as JSON, so this page needs JavaScript.</p></noscript>
      ${pageScript}`,
  )
}

/** A JavaScript variable. JSON without `<` can't end the script. */
function variable(name: string, value: string): Markup {
  return { markup: `<script>var ${name} = ${JSON.stringify(value).replaceAll('<', String.raw`\u003c`)};</script>` }
}

/** By hand, the same calls as a client makes: list the factors, verify the passcode, post the form again. */
const pageScript: Markup = {
  markup: `<script>
    const field = (name) => (document.querySelector('form [name="' + name + '"]') || { value: window[name] }).value
    const transaction = field('transaction_id'), csrf = field('_csrf')
    const factors = document.querySelector('#factor'), message = document.querySelector('#message')
    const say = (text) => { message.textContent = text; message.hidden = false }
    fetch('/oauth2/v3/authorize/mfa/factors?transaction_id=' + encodeURIComponent(transaction))
      .then((answer) => answer.json())
      .then(({ data }) => factors.replaceChildren(...data.map(({ id, name }) => new Option(name, id))))
      .catch(() => say('Your devices could not be listed.'))
    const post = (form) => {
      if (form.elements.transaction_id) return form.submit()
      form.replaceChildren(Object.assign(document.createElement('input'), { name: 'transaction_id', value: transaction }))
      form.submit()
    }
    document.querySelector('#form').addEventListener('submit', async (event) => {
      event.preventDefault()
      const answer = await fetch('/oauth2/v3/authorize/mfa/verify', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ transaction_id: transaction, factor_id: factors.value, passcode: field('passcode').trim(), _csrf: csrf }),
      })
      const { data, error } = await answer.json().catch(() => ({}))
      if (data && data.valid) return post(event.target)
      say(error ? error.message : 'This passcode is not right. Try the next one.')
    })
  </script>`,
}
