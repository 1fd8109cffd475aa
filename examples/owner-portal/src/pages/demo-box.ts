/**
 * The box that tells a newcomer which demo accounts there are. Only where the portal runs against the emulator.
 */
import { html } from 'hono/html'
import { type Html, waitingTime } from '@owner-sso/sign-in-pages'

/** A demo account as people are told about it. */
export interface DemoAccount {
  readonly identity: string
  readonly credential: string
  /** What is special about it; empty for nothing. */
  readonly note: string
  /** The current passcode of each of its devices. */
  readonly passcodes: readonly { readonly device: string; readonly passcode: string }[]
}

/**
 * @param secondsLeft - how long the passcodes shown stay the current ones.
 * @param here - the path of the page around it: a link, since reloading a page that answered a form would send it again.
 * @param inspector - the address of the page that shows what arrives at the emulator.
 */
export function demoBox(accounts: readonly DemoAccount[], secondsLeft: number, here: string, inspector: string): Html {
  return html`<aside class="demo" aria-labelledby="demo-title">
    <h2 id="demo-title">Demo accounts</h2>
    <p>This portal runs against an emulator. Sign in as one of these:</p>
    <ul>
      ${accounts.map(
        ({ identity, credential, note, passcodes }) =>
          html`<li>
            <strong>${identity}</strong>
            <span>Password <code>${credential}</code>${note && `, ${note}`}</span>
            ${passcodes.map(({ device, passcode }) => html`<span>${device} shows <code>${passcode}</code></span>`)}
          </li>`,
      )}
    </ul>
    <p class="quiet">
      Each passcode works once and changes in ${waitingTime(secondsLeft)}. <a href="${here}">Show the current ones</a>
    </p>
    <p><a href="${inspector}" target="_blank" rel="noopener">Watch each sign-in</a> in the emulator’s inspector.</p>
  </aside>`
}
