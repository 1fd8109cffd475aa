/**
 * The way over the service's own page: the person brings back the address that they end on.
 */
import { visible } from '@owner-sso/core'
import { html } from 'hono/html'
import { type Complaints, csrfField, field, inputAttributes, type Notice, noticeBox } from './form.ts'
import { card, type Html } from './frame.ts'
import { accountQuery, hiddenField } from './sign-in-card.ts'

export interface ServicePageCard {
  /** Below it are `/sign-in` and `/sign-in/browser`. */
  readonly base: string
  readonly csrfToken: string
  /** Whose sign-in it is to be; absent: of whoever signs in. */
  readonly account?: string | undefined
  /** The service's login page for this sign-in. */
  readonly url: string
  /** There is no form for e-mail and password. */
  readonly isOnlyWay?: boolean | undefined
  readonly problem?: Notice | undefined
  readonly complaints?: Complaints | undefined
}

export function servicePageCard(page: ServicePageCard): Html {
  const { base, account, url, isOnlyWay = false, complaints = {} } = page
  const redirectUri = new URL(url).searchParams.get('redirect_uri') ?? ''
  const addressInput = html`<textarea
    class="input"
    rows="3"
    inputmode="url"
    autocomplete="off"
    autocapitalize="none"
    spellcheck="false"
    ${inputAttributes('callbackUrl', complaints)}
  ></textarea>`
  return card(
    'Sign in on the service’s page',
    `${isOnlyWay ? '' : 'For accounts that are asked for a captcha. '}You type your password there alone.`,
    html`${noticeBox(page.problem, 'bad')}
      <ol class="steps">
        <li>
          <h2>Sign in there${account !== undefined && html` as ${visible(account)}`}</h2>
          <a class="button" href="${url}" target="_blank" rel="noopener noreferrer">Open the service’s page</a>
          <p class="small quiet">It opens in a new tab.</p>
        </li>
        <li>
          <h2>Copy the address you end on</h2>
          ${whereItIs(redirectUri)}
        </li>
        <li>
          <h2>Paste it here</h2>
          <form method="post" action="${base}/sign-in/browser" novalidate>
            ${csrfField(page.csrfToken)} ${hiddenField('account', account)}
            ${field('callbackUrl', 'The whole address, or the line that shows it', addressInput, complaints)}
            <button class="button" type="submit">Sign in</button>
          </form>
        </li>
      </ol>
      ${isOnlyWay ? '' : html`<p class="small quiet"><a href="${base}/sign-in${accountQuery(account)}">Back to e-mail and password</a></p>`}`,
  )
}

/** What the person sees at the end: a page that does not exist (interface document, endpoint 1), or nothing that opens. */
function whereItIs(redirectUri: string): Html {
  if (/^https?:/u.test(redirectUri))
    return html`<p>
      You end on a page that was not found. That is right. Its address starts with <code>${redirectUri}?code=</code>
    </p>`
  return html`<p>
      Your browser is sent to an address that it can’t open, and the page stays as it is. That is right. The address
      starts with <code>${redirectUri}?code=</code>
    </p>
    <p>
      Press F12 and choose Console. It says “Failed to launch” and shows the address: copy that whole line. If it is
      empty, leave it open and sign in once more.
    </p>`
}
