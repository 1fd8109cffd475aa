/**
 * The access token's state, with the time it has left as a bar. Never the token.
 */
import { documentedLifetime, type TokenStatus } from '@owner-sso/core'
import { html } from 'hono/html'
import { csrfField, type Html, moment, refusalNotice, timeLeft } from '@owner-sso/sign-in-pages'

const states: Readonly<Record<TokenStatus['state'], readonly [label: string, color: 'good' | 'poor', text: string]>> = {
  valid: ['Valid', 'good', 'It is renewed automatically before it expires.'],
  expired: ['Expired', 'poor', 'It is renewed with the next call.'],
  'in-doubt': ['Renewal under way', 'good', 'The last renewal’s answer was lost. It resolves by itself.'],
  'signed-out': ['Signed out', 'poor', 'Sign in again to see your vehicles.'],
  'reauthentication-required': ['Sign in again', 'poor', 'It can no longer be renewed.'],
}

/** @param now - seconds since the epoch */
export function tokenCard(status: TokenStatus, now: number, csrfToken: string): Html {
  const [label, color, text] = states[status.state]
  const advice = refusalNotice(status)
  const { obtained_at: from, expires_at: end = now } = status
  const left = status.state === 'expired' || status.refused ? 0 : Math.max(0, Math.round(end - now))
  const life = from !== undefined && end > from ? end - from : documentedLifetime
  return html`<section class="card" aria-labelledby="token">
    <div class="between">
      <h2 id="token">Access token</h2>
      <span class="pill ${color}">${label}</span>
    </div>
    <div class="field">
      <p class="time-left">${left > 0 ? `${timeLeft(left)} left` : 'No time left'}</p>
      <progress value="${Math.min(left, life)}" max="${life}" aria-label="Time left of the token’s life">
        ${left > 0 ? timeLeft(left) : 'none'}
      </progress>
      ${left > 0 && html`<p class="small">Ends ${moment(end)}</p>`}
    </div>
    ${advice === undefined ? html`<p class="quiet small">${text}</p>` : html`<p class="notice bad">${advice}</p>`}
    <form method="post" action="/refresh">
      ${csrfField(csrfToken)}<button class="button plain" type="submit">Refresh now</button>
    </form>
  </section>`
}
