/**
 * Where a person types the passcode of one of their devices, or a backup code.
 */
import { type Factor, visible } from '@owner-sso/core'
import { html } from 'hono/html'
import { type Complaints, csrfField, field, inputAttributes, type Notice, noticeBox } from './form.ts'
import { card, type Html } from './frame.ts'

export interface PasscodeCard {
  /** Below it is `/sign-in/passcode`. */
  readonly base: string
  readonly csrfToken: string
  readonly identity: string
  readonly factors: readonly Factor[]
  /** The factor chosen before. */
  readonly chosen?: string | undefined
  readonly problem?: Notice | undefined
  readonly complaints?: Complaints | undefined
  /** What stands below the forms. */
  readonly below?: Html
}

export function passcodeCard(page: PasscodeCard): Html {
  const { complaints = {} } = page
  const passcodeInput = html`<input
    class="input code"
    inputmode="numeric"
    autocomplete="one-time-code"
    maxlength="32"
    autofocus
    ${inputAttributes('passcode', complaints)}
  />`
  return card(
    'Enter your passcode',
    `Signing in as ${page.identity}. Your authenticator app shows a passcode that changes every 30 seconds.`,
    html`${noticeBox(page.problem, 'bad')}
      <form method="post" action="${page.base}/sign-in/passcode" novalidate>
        ${csrfField(page.csrfToken)} ${factorChoice(page.factors, page.chosen)}
        ${field('passcode', 'Passcode', passcodeInput, complaints)}
        <button class="button" type="submit">Continue</button>
      </form>
      ${backupCodeForm(page, complaints)} ${page.below}`,
  )
}

/** One factor is named, several are a choice. */
function factorChoice(factors: readonly Factor[], chosen: string | undefined): Html {
  const [first] = factors
  if (!first) return html``
  if (factors.length === 1) {
    const { id, name } = first
    return html`<p>From <strong>${visible(name)}</strong><input type="hidden" name="factor" value="${id}" /></p>`
  }
  const selected = factors.find(({ id }) => id === chosen) ?? first
  return html`<fieldset>
    <legend>Which device shows it?</legend>
    ${factors.map((factor) => {
      const checked = factor === selected ? 'checked' : ''
      return html`<label class="choice">
        <input type="radio" name="factor" value="${factor.id}" ${checked} />${visible(factor.name)}
      </label>`
    })}
  </fieldset>`
}

function backupCodeForm({ base, csrfToken }: PasscodeCard, complaints: Complaints): Html {
  const input = html`<input
    class="input"
    autocomplete="off"
    autocapitalize="none"
    spellcheck="false"
    maxlength="32"
    ${inputAttributes('backupCode', complaints)}
  />`
  return html`<details ${complaints['backupCode'] ? 'open' : ''}>
    <summary>No device at hand? Use a backup code</summary>
    <form method="post" action="${base}/sign-in/passcode" novalidate>
      ${csrfField(csrfToken)} ${field('backupCode', 'Backup code', input, complaints)}
      <p class="small quiet">Nine characters, from the list you were given. Each works once.</p>
      <button class="button plain" type="submit">Use backup code</button>
    </form>
  </details>`
}
