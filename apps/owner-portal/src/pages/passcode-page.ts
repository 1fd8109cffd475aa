/**
 * The page where a person types the passcode of one of their devices, or a backup code.
 */
import type { Factor } from '@owner-sso/core'
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

export interface PasscodePage extends FormContext {
  readonly identity: string
  readonly factors: readonly Factor[]
  /** The factor chosen before. */
  readonly chosen?: string
  readonly problem?: Notice
  readonly complaints?: Complaints
  readonly demo?: Html
}

export function passcodePage(page: PasscodePage): Html {
  const { complaints = {} } = page
  return layout(
    { title: 'Passcode', narrow: true },
    html`<section class="card">
        <div class="lead">
          <h1>Enter your passcode</h1>
          <p class="quiet">
            Signing in as ${page.identity}. Your authenticator app shows a passcode that changes every 30 seconds.
          </p>
        </div>
        ${noticeBox(page.problem, 'bad')}
        <form method="post" action="/sign-in/passcode" novalidate>
          ${csrfField(page.csrfToken)} ${factorChoice(page.factors, page.chosen)}
          <div class="field">
            <label for="passcode">Passcode</label>
            <input
              class="input passcode"
              id="passcode"
              name="passcode"
              inputmode="numeric"
              autocomplete="one-time-code"
              maxlength="12"
              required
              autofocus
              ${complaintAttributes('passcode', complaints)}
            />
            ${complaint('passcode', complaints)}
          </div>
          <button class="button" type="submit">Continue</button>
        </form>
        ${backupCodeForm(page.csrfToken, complaints)}
        <form method="post" action="/sign-in/start-over">
          ${csrfField(page.csrfToken)}<button class="link small" type="submit">Start again with another account</button>
        </form>
      </section>
      ${page.demo}`,
  )
}

/** One factor is named, several are a choice. */
function factorChoice(factors: readonly Factor[], chosen: string | undefined): Html {
  const [first] = factors
  if (!first) return html``
  if (factors.length === 1) {
    return html`<p>From <strong>${first.name}</strong><input type="hidden" name="factor" value="${first.id}" /></p>`
  }
  const selected = factors.find(({ id }) => id === chosen) ?? first
  return html`<fieldset>
    <legend>Which device shows it?</legend>
    ${factors.map(
      (factor) =>
        html`<label class="choice">
          <input
            type="radio"
            name="factor"
            value="${factor.id}"
            ${factor === selected ? 'checked' : ''}
          />${factor.name}
        </label>`,
    )}
  </fieldset>`
}

function backupCodeForm(csrfToken: string, complaints: Complaints): Html {
  return html`<details ${complaints['backupCode'] ? 'open' : ''}>
    <summary>No device at hand? Use a backup code</summary>
    <form method="post" action="/sign-in/passcode" novalidate>
      ${csrfField(csrfToken)}
      <div class="field">
        <label for="backupCode">Backup code</label>
        <input
          class="input"
          id="backupCode"
          name="backupCode"
          autocomplete="off"
          autocapitalize="none"
          spellcheck="false"
          maxlength="32"
          required
          ${complaintAttributes('backupCode', complaints)}
        />
        ${complaint('backupCode', complaints)}
        <p class="small quiet">Nine characters, from the list you were given. Each works once.</p>
      </div>
      <button class="button plain" type="submit">Use backup code</button>
    </form>
  </details>`
}
