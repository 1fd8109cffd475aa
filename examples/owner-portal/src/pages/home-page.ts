/**
 * The page of a signed-in owner: vehicles, and how long the access token still works.
 */
import type { TokenStatus } from '@owner-sso/core'
import { html } from 'hono/html'
import { ownerApiPath, type Vehicle } from '../owner-api.ts'
import { type Html, type Notice, noticeBox } from '@owner-sso/sign-in-pages'
import { accountAside, layout } from './layout.ts'
import { tokenCard } from './token-card.ts'
import { vehicleIcon, vehicleState } from './vehicle-page.ts'

export interface HomePage {
  readonly csrfToken: string
  readonly account: string
  /** `undefined` where they could not be had; `problem` says why. */
  readonly vehicles: readonly Vehicle[] | undefined
  /** The path of the owner API that lists them. */
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

function vehicleList(vehicles: readonly Vehicle[], listPath: string): Html {
  if (vehicles.length === 0) return html`<p class="quiet">This account has no vehicles yet.</p>`
  return html`<ul class="vehicles">
      ${vehicles.map(
        (vehicle) =>
          html`<li>
            <a class="vehicle" href="/vehicles/${encodeURIComponent(vehicle.id)}">
              ${vehicleIcon()}
              <strong>${vehicle.name}</strong>
              <span class="quiet small">${vehicle.vin}</span>
              ${vehicleState(vehicle.state)}
            </a>
          </li>`,
      )}
    </ul>
    <p class="small"><a href="${ownerApiPath}${listPath}">What the owner API says, as JSON</a></p>`
}
