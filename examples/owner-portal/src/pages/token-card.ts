/**
 * The access token's state, with the time it has left as a bar. Never the token.
 */
import { documentedLifetime, type TokenStatus } from '@owner-sso/core'
import { html } from 'hono/html'
import { csrfField, type Html, moment, refusalNotice, timeLeft } from '@owner-sso/sign-in-pages'

const states: Record<TokenStatus['state'], { readonly label: string; readonly good: boolean; readonly text: string }> =
  {
    valid: { label: 'Valid', good: true, text: 'It is renewed automatically before it expires.' },
    expired: { label: 'Expired', good: false, text: 'It is renewed with the next call.' },
    'in-doubt': {
      label: 'Renewal under way',
      good: true,
      text: 'The last renewal’s answer was lost. It resolves by itself.',
    },
    'signed-out': { label: 'Signed out', good: false, text: 'Sign in again to see your vehicles.' },
    'reauthentication-required': { label: 'Sign in again', good: false, text: 'It can no longer be renewed.' },
  }

/** @param now - seconds since the epoch. */
export function tokenCard(status: TokenStatus, now: number, csrfToken: string): Html {
  const state = states[status.state]
  const advice = refusalNotice(status)
  const end = status.state === 'expired' || status.refused === true ? now : status.expires_at
  const left = Math.max(0, Math.round((end ?? now) - now))
  const life = lifetimeOf(status)
  return html`<section class="card" aria-labelledby="token">
    <div class="between">
      <h2 id="token">Access token</h2>
      <span class="pill ${state.good ? 'good' : 'poor'}">${state.label}</span>
    </div>
    <div class="field">
      <p class="time-left">${left > 0 ? `${timeLeft(left)} left` : 'No time left'}</p>
      <progress value="${Math.min(left, life)}" max="${life}" aria-label="Time left of the token’s life">
        ${left > 0 ? timeLeft(left) : 'none'}
      </progress>
    </div>
    ${advice === undefined ? html`<p class="quiet small">${state.text}</p>` : html`<p class="notice bad">${advice}</p>`}
    <dl class="facts small">
      ${
        left > 0 &&
        status.expires_at !== undefined &&
        html`<div>
          <dt>Ends</dt>
          <dd>${moment(status.expires_at)}</dd>
        </div>`
      }
      ${
        status.auth_url !== undefined &&
        html`<div>
          <dt>Issued by</dt>
          <dd>${new URL(status.auth_url).host}</dd>
        </div>`
      }
    </dl>
    <form method="post" action="/refresh">
      ${csrfField(csrfToken)}<button class="button plain" type="submit">Refresh now</button>
    </form>
  </section>`
}

/** Seconds from its first to its last. */
function lifetimeOf({ obtained_at: from, expires_at: until }: TokenStatus): number {
  return from !== undefined && until !== undefined && until > from ? until - from : documentedLifetime
}
