/**
 * What the broker does: its accounts with the time their tokens have left, its clients, and what went wrong lately.
 */
import { accountQuery, ago, type Html, type Notice, noticeBox, refusalNotice, timeLeft } from '#sign-in-pages'
import { type AccountHistory, overdueAdvice, type TokenStatus, visible } from '@owner-sso/core'
import { html } from 'hono/html'
import type { ListedClient } from '../../clients/client.ts'
import type { Failure } from '../failures.ts'
import { page, type PageContext } from './page.ts'
import { allowed, programQuery } from './program-page.ts'

export interface AccountRow extends Pick<AccountHistory, 'status' | 'why'> {
  readonly account: string
}

export interface OverviewPage extends PageContext {
  readonly accounts: readonly AccountRow[]
  /** Otherwise others may be signed in, whose records can't be read. */
  readonly areAllListed: boolean
  /** `undefined` where they could not be read. */
  readonly clients: readonly ListedClient[] | undefined
  readonly failures: readonly Failure[]
  readonly now: number
  readonly news?: Notice | undefined
}

export function overviewPage(overview: OverviewPage): Html {
  const { accounts, areAllListed, clients, failures, now, path } = overview
  return page(
    overview,
    'Status',
    html`${noticeBox(overview.news, 'good')}
      <section class="card" aria-labelledby="accounts">
        <div class="between">
          <h1 id="accounts">Accounts</h1>
          <a href="${path}/sign-in">${accounts.length > 0 ? 'Sign another account in' : 'Sign an account in'}</a>
        </div>
        ${!areAllListed && html`<p class="notice bad">${accounts.length > 0 ? 'Not every account can be read now.' : 'The list can’t be read now.'}</p>`}
        ${areAllListed && accounts.length === 0 && html`<p class="quiet">Nobody is signed in yet. Sign an account in, then invite the programs that need its tokens.</p>`}
        <ul class="rows">
          ${accounts.map((row) => accountRow(row, overview))}
        </ul>
      </section>
      <section class="card" aria-labelledby="clients">
        <div class="between">
          <h2 id="clients">Programs</h2>
          ${(accounts.length > 0 || !areAllListed) && html`<a href="${path}/invite">Invite a program</a>`}
        </div>
        ${clients === undefined ? html`<p class="notice bad">The list can’t be read now.</p>` : clientList(clients, overview)}
      </section>
      <section class="card" aria-labelledby="failures">
        <h2 id="failures">Last failures</h2>
        ${failures.length === 0 && html`<p class="quiet">None lately.</p>`}
        <ul class="rows">
          ${failures.map((failure) => failureRow(failure, now))}
        </ul>
      </section>`,
    false,
  )
}

const labels: Record<TokenStatus['state'], readonly [label: string, look: 'good' | 'poor']> = {
  valid: ['Valid', 'good'],
  expired: ['Refreshed when next used', 'good'],
  'in-doubt': ['Refresh under way', 'good'],
  'signed-out': ['Not signed in', 'poor'],
  'reauthentication-required': ['Sign in again', 'poor'],
}

function accountRow({ account, status, why }: AccountRow, overview: OverviewPage): Html {
  if (status === undefined) {
    return html`<li>
      <strong>${visible(account)}</strong><span class="pill poor">Can’t be read now</span>
      ${cause(why)}
    </li>`
  }
  const advice = refusalNotice(status)
  const isWrong = advice === undefined && why.cause !== 'signed-in' && why.cause !== 'refreshing'
  const isUseless = advice !== undefined && (status.state === 'expired' || status.refused === true)
  const overdue = overdueAdvice(status)
  const [label, look] = labels[isUseless ? 'reauthentication-required' : status.state]
  const signIn = html`<p><a class="button" href="${overview.path}/sign-in${accountQuery(account)}">Sign in</a></p>`
  return html`<li>
    <div class="between">
      <strong>${visible(account)}</strong>
      <span class="pill ${look}">${overdue !== undefined && status.state === 'expired' ? 'Not refreshed' : label}</span>
    </div>
    ${isWrong && cause(why)}
    ${
      look === 'good'
        ? html`${remainingLife(account, status, overview)}
          ${overdue !== undefined && html`<p class="notice bad">${overdue}</p>`}
          ${
            advice !== undefined &&
            html`<p class="notice bad">${advice}</p>
              ${signIn}`
          }`
        : html`<p class="quiet">${advice ?? needed(status, overview.now)}</p>
            ${signIn}`
    }
  </li>`
}

function cause({ sentence, sure, or_else, to_do, rests_on }: AccountRow['why']): Html {
  return html`<p>${!sure && 'Likely: '}${sentence}</p>
    <details>
      <summary class="small quiet">What to do, and what that rests on</summary>
      ${[to_do, or_else ?? 'That is sure.', ...rests_on].map((line) => html`<p class="small">${visible(line)}</p> `)}
    </details>`
}

/** The refresh token is dead; the last access token may live on for a while. */
function needed({ state, expires_at: until = 0 }: TokenStatus, now: number): string {
  const lives = state === 'reauthentication-required' && until > now
  return lives
    ? `The last token works for ${timeLeft(until - now)}. Then no program gets one until the owner signs in.`
    : 'No program gets a token until the owner signs in.'
}

function remainingLife(account: string, status: TokenStatus, { now }: OverviewPage): Html {
  const { expires_at: until = now, obtained_at: from = now } = status
  const [left, life] = [Math.max(0, Math.round(until - now)), Math.max(1, Math.round(until - from))]
  const next = Math.round((status.refresh_due_at ?? status.next_attempt_at ?? now) - now)
  const isKnown = status.not_refreshed_since === undefined
  const refresh = !isKnown ? 'unknown' : next > 0 ? `in ${timeLeft(next)}` : 'with the next call'
  return html`<progress
      value="${Math.min(left, life)}"
      max="${life}"
      aria-label="Time left of ${visible(account)}"
    ></progress>
    <p class="small quiet">${left > 0 ? `${timeLeft(left)} left` : 'Expired'} · next refresh ${refresh}</p>`
}

function clientList(clients: readonly ListedClient[], overview: OverviewPage): Html {
  if (clients.length === 0) return html`<p class="quiet">None yet.</p>`
  return html`<table>
    <thead>
      <tr>
        ${columns.map((column) => html`<th scope="col">${column}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${clients.map((client) => clientRow(client, overview))}
    </tbody>
  </table>`
}

const columns = ['Name', 'Accounts', 'May have', 'Last use', 'Calls', 'From'] as const

function clientRow(client: ListedClient, { path, now }: OverviewPage): Html {
  const { name, accounts, calls, last_used_at: used, last_address: address } = client
  const lastUse = used === undefined ? 'never' : ago(used, now)
  const cells = [visible(accounts.join(', ')), allowed(client, now), lastUse, calls, address ?? '–']
  return html`<tr>
    <th scope="row"><a href="${path}/program${programQuery(name)}">${visible(name)}</a></th>
    ${cells.map((cell, index) => html`<td data-label="${columns[index + 1]}">${cell}</td>`)}
  </tr>`
}

function failureRow({ at, what, account, count }: Failure, now: number): Html {
  return html`<li>
    <span>${visible(what)}${count > 1 && html` <span class="pill">${count} times</span>`}</span>
    <span class="small quiet">${account !== undefined && `${visible(account)} · `}${ago(at, now)}</span>
  </li>`
}
