/**
 * The page of a signed-in owner: vehicles, and how long the access token still works.
 */
import type { TokenStatus } from '@owner-sso/core'
import { csrfField, type Html, type Notice, noticeBox } from '@owner-sso/sign-in-pages'
import { html } from 'hono/html'
import type { Vehicle } from '../owner-api.ts'
import { layout } from './layout.ts'
import { tokenCard } from './token-card.ts'

export interface HomePage {
  readonly csrfToken: string
  readonly account: string
  /** `undefined` where they could not be had; `problem` says why. */
  readonly vehicles: readonly Vehicle[] | undefined
  /** Where the owner API's own list is shown. */
  readonly listPath: string
  readonly problem?: Notice
  readonly news?: Notice
  readonly status: TokenStatus
  /** Seconds since the epoch. */
  readonly now: number
}

export function homePage(page: HomePage): Html {
  return layout(
    { title: 'Your vehicles', aside: accountAside(page.account, page.csrfToken) },
    html`${noticeBox(page.news, 'good')}
      <div class="panels">
        <section class="card" aria-labelledby="vehicles">
          <h1 id="vehicles">Your vehicles</h1>
          ${noticeBox(page.problem, 'bad')} ${page.vehicles && vehicleList(page.vehicles, page.listPath)}
        </section>
        ${tokenCard(page.status, page.now, page.csrfToken)}
      </div>`,
  )
}

function accountAside(account: string, csrfToken: string): Html {
  return html`<div class="who">
    <span class="quiet small">${account}</span>
    <form method="post" action="/sign-out">
      ${csrfField(csrfToken)}<button class="button plain small" type="submit">Sign out</button>
    </form>
  </div>`
}

function vehicleList(vehicles: readonly Vehicle[], listPath: string): Html {
  if (vehicles.length === 0) return html`<p class="quiet">This account has no vehicles yet.</p>`
  return html`<ul class="vehicles">
      ${vehicles.map(
        ({ name, vin, state }) =>
          html`<li class="vehicle">
            ${vehicleIcon()}
            <strong>${name}</strong>
            <span class="quiet small">${vin}</span>
            ${state && html`<span class="pill ${state === 'online' ? 'good' : ''}">${capitalised(state)}</span>`}
          </li>`,
      )}
    </ul>
    <p class="small"><a href="${listPath}">What the owner API says, as JSON</a></p>`
}

const capitalised = (word: string): string => word.replace(/^./u, (letter) => letter.toUpperCase())

function vehicleIcon(): Html {
  return html`<svg
    viewBox="0 0 24 24"
    aria-hidden="true"
    fill="none"
    stroke="currentColor"
    stroke-width="1.7"
    stroke-linecap="round"
    stroke-linejoin="round"
  >
    <path
      d="M3 16.5v-3.2l2-1.3 2.1-4.3A2 2 0 0 1 8.9 6.5h5.4a2 2 0 0 1 1.6 .8L19 11.5l1.4 .5a1.5 1.5 0 0 1 .9 1.4v3.1h-2.3M9.5 16.5h5M3 16.5h2.5"
    />
    <path d="M5.5 11.7h13M12 6.5v5.2" />
    <circle cx="7.5" cy="16.5" r="2" />
    <circle cx="17" cy="16.5" r="2" />
  </svg>`
}
