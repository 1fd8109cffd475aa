/**
 * The page: a frame with the buttons, and the part in it that is sent anew each second.
 */
import { html } from 'hono/html'
import { chart } from './chart.ts'
import { firewall, requestBudget, tokenLife } from './figures.ts'
import type { Html } from './markup.ts'
import type { AccountView, Snapshot } from './monitor.ts'

export function page(snapshot: Snapshot): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>A fleet of accounts</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/fleet.css" />
        <script type="module" src="/fleet.js"></script>
      </head>
      <body>
        <main>
          <header>
            <h1>A fleet of accounts</h1>
            <nav aria-label="What may happen">
              ${button('/night', 'Expire all at once')} ${button('/kill', 'Kill a process')}
              ${button('/budget/on', 'Budget on')} ${button('/budget/off', 'Budget off')}
            </nav>
          </header>
          <div id="live">${live(snapshot)}</div>
        </main>
      </body>
    </html>`
}

/** What changes. */
export function live(snapshot: Snapshot): Html {
  const { used, unused, seconds, challenges, hasBudget, workers } = snapshot
  const all = [...used, ...unused]
  const working = all.filter(({ left }) => left > 0).length
  const refreshes = seconds.reduce((sum, second) => sum + second.refreshes, 0)
  const waiting = workers.reduce((sum, { report }) => sum + (report?.waiting ?? 0), 0)
  return html`<p class="news ${snapshot.blockedFor > 0 ? 'bad' : ''}" id="news">${newsOf(snapshot, working)}</p>
    <dl>
      ${fact('Accounts that work', `${working} of ${all.length}`)} ${fact('Callers that wait', waiting)}
      ${fact('Refreshes in the last minute', hasBudget ? `${refreshes} of ${requestBudget.perMinute}` : refreshes)}
      ${fact('Firewall challenges', challenges)}
    </dl>
    <section>
      <h2>Accounts in use</h2>
      ${field(used)}
      <h2>Accounts that nobody calls: the keeper’s</h2>
      ${field(unused)}
      <p class="quiet legend">
        <i class="cell t4"></i> fresh <i class="cell t2"></i> half <i class="cell t1"></i> due
        <i class="cell t0"></i> expired. Tokens live ${tokenLife} s here.
      </p>
    </section>
    <section>
      <h2>Refreshes a second</h2>
      ${chart(seconds)}
      <p class="quiet">
        The firewall blocks after ${firewall.maxRequests} requests in ${firewall.windowSeconds} s.
        ${
          hasBudget
            ? `The budget lets ${requestBudget.burst} go in about a second, from all processes together.`
            : 'There is no budget: every process sends when it likes.'
        }
      </p>
    </section>
    <section>
      <h2>Processes</h2>
      <ul class="processes">
        ${workers.map(processOf)}
      </ul>
    </section>`
}

function newsOf({ blockedFor, hasBudget, used, unused }: Snapshot, working: number): string {
  if (blockedFor > 0) {
    const minutes = Math.ceil(blockedFor / 60)
    const advice = hasBudget
      ? 'Expire all: eight hours pass, and the block ends. One request tries first; within a minute all follow.'
      : 'Switch the budget on.'
    return `The firewall blocks this fleet for ${minutes} more minutes. ${advice}`
  }
  const missing = used.length + unused.length - working
  if (missing > 0) return `${missing} accounts wait for a new token.`
  return hasBudget ? 'Everybody works.' : 'Everybody works, without a budget. Expire all, and see the block.'
}

const button = (action: string, label: string): Html =>
  html`<form method="post" action="${action}"><button>${label}</button></form>`

const fact = (name: string, value: string | number): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`

function field(accounts: readonly AccountView[]): Html {
  const working = accounts.filter(({ left }) => left > 0).length
  return html`<div class="field" role="img" aria-label="${working} of ${accounts.length} work">
    ${accounts.map(
      ({ name, left }) =>
        html`<i class="cell t${shadeOf(left)}" title="${name}: ${left > 0 ? `${Math.round(left)} s` : 'expired'}"></i>`,
    )}
  </div>`
}

/** 0: over; 1 to 4: by the quarter of its life that it is in. */
const shadeOf = (left: number): number => Math.max(0, Math.min(4, Math.ceil((left / tokenLife) * 4)))

function processOf({ pid, restarts, report }: Snapshot['workers'][number]): Html {
  const isSweeping = report?.keeper === 'sweeping'
  const state = pid === undefined ? 'dead' : report === undefined ? 'starting' : 'alive'
  return html`<li class="${state} ${isSweeping ? 'sweeping' : ''}">
    <strong>${pid === undefined ? 'killed' : `process ${pid}`}</strong>
    <span>${pid === undefined ? 'starts again in a moment' : `${report?.served ?? 0} calls served`}</span>
    <span class="quiet">${isSweeping ? 'its keeper sweeps' : `started again: ${restarts}`}</span>
  </li>`
}
