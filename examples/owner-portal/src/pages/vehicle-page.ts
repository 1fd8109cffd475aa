/**
 * The page of one vehicle.
 */
import { html } from 'hono/html'
import { ownerApiPath, type Vehicle } from '../owner-api.ts'
import type { Html } from '@owner-sso/sign-in-pages'
import { accountAside, layout } from './layout.ts'

export interface VehiclePage {
  readonly csrfToken: string
  readonly account: string
  readonly vehicle: Vehicle
}

export function vehiclePage({ account, vehicle, csrfToken }: VehiclePage): Html {
  return layout(
    { title: vehicle.name, narrow: true, aside: accountAside(account, csrfToken) },
    html`<section class="card">
      <h1>${vehicle.name}</h1>
      <dl class="facts">
        ${fact('State', vehicleState(vehicle.state))}
        ${vehicle.battery !== undefined && fact('Battery', `${vehicle.battery} %`)}
        ${vehicle.range !== undefined && fact('Range', `${vehicle.range} km`)}
        ${vehicle.vin && fact('VIN', vehicle.vin)}
      </dl>
      <p class="small">
        <a href="${ownerApiPath}/api/1/vehicles/${encodeURIComponent(vehicle.id)}">What the owner API says, as JSON</a>
      </p>
      <p><a href="/">All vehicles</a></p>
    </section>`,
  )
}

function fact(name: string, value: Html | string): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`
}

export function vehicleState(state: string | undefined): Html {
  if (!state) return html``
  return html`<span class="pill ${state === 'online' ? 'good' : ''}">${state[0]?.toUpperCase()}${state.slice(1)}</span>`
}

export function vehicleIcon(): Html {
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
