/**
 * The frame of every page: one column, the system's font, light or dark, and no other file.
 */
import type { EmulatorAccount } from '../state/accounts.ts'
import { html, type Markup } from '../support/markup.ts'

const styleSheet: Markup = {
  markup: `
  :root { color-scheme: light dark; --paper: #fff; --ground: #f5f4f0; --ink: #1d2321; --soft: #5a625e; --line: #85857c; --accent: #2a6a5d; --alarm: #9f2d20 }
  @media (prefers-color-scheme: dark) { :root { --paper: #1c2220; --ground: #131716; --ink: #ecefec; --soft: #a5b0ab; --line: #7d8984; --accent: #7cc7b5; --alarm: #ffb0a2 } }
  * { box-sizing: border-box }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
  main { width: min(26rem, 100%); padding: 2rem; background: var(--paper); border-radius: 1rem }
  h1 { margin: 0 0 1rem; font-size: 1.4rem }
  h2 { margin: 1.2rem 0 0; font-size: 1rem }
  p { margin: .3rem 0 }
  a { color: var(--accent) }
  label { display: block; margin: 1rem 0 .3rem; font-weight: 600 }
  input, select { width: 100%; padding: .7rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .5rem }
  input[type=checkbox] { width: auto }
  button { width: 100%; margin-top: 1.5rem; padding: .8rem; font: inherit; font-weight: 600; color: var(--paper); background: var(--accent); border: 0; border-radius: .5rem; cursor: pointer }
  button.plain { margin-top: .5rem; color: var(--soft); background: transparent }
  .message { margin: 1rem 0; padding: .7rem 1rem; border-left: 4px solid var(--alarm); color: var(--alarm) }
  .note, footer { color: var(--soft); font-size: .875rem }
  footer { margin-top: 1.5rem }
  .apart, form + p { margin: 1.2rem 0 }
  code { overflow-wrap: anywhere }
  svg { display: block; width: 10rem; color: var(--ink) }
`,
}

/** Of the page itself, so that no browser asks for one: it would stand among the requests of clients. */
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%232a6a5d'/%3E%3Cpath d='M4 6h8m-3-2 3 2-3 2M12 11H4m3-2-3 2 3 2' stroke='%23fff' stroke-width='1.4' fill='none'/%3E%3C/svg%3E"

export function page(title: string, content: Markup): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="${icon}" />
        <style>
          ${styleSheet}
        </style>
      </head>
      <body>
        <main>
          ${content}
          <footer>Emulated SSO service. Not for real accounts.</footer>
        </main>
      </body>
    </html> `.markup
}

/** Leads whoever signs in here to what they have to type. */
export const startPageLink: Markup = html`<p><a href="/" target="_blank">Accounts and passcodes</a></p>`

export function noticePage(title: string, message: string): string {
  return page(
    title,
    html`<h1>${title}</h1>
      <p>${message}</p>`,
  )
}

export function startPage(accounts: readonly EmulatorAccount[], ownerApiUrl: string): string {
  return page(
    'Emulator',
    html`<h1>The service on your machine</h1>
      <p>Sign in from your program. These accounts can:</p>
      ${accounts.map(accountEntry)}
      <p class="note apart">A passcode is valid for 30 seconds: reload this page for the next one.</p>
      <p><a href="/_emulator">Inspector</a>: each request of each sign-in</p>
      <p>Owner API: <code>${ownerApiUrl}</code></p>`,
  )
}

function accountEntry(account: EmulatorAccount): Markup {
  const { identity, credential, factors, backupCodes, region, locked } = account
  const [first] = backupCodes
  return html`<h2>${identity}</h2>
    <p>
      Password <code>${credential}</code>${region !== 'home' && ', lives in the other region'}${locked && ', locked'}
      ${factors.map(({ id, name }) => html`<br />Passcode of ${name} <code>${account.passcode(id)}</code>`)}
      ${first !== undefined && html`<br />Backup code <code>${first}</code>`}
    </p>`
}

/** The page that does not exist: an application intercepts it, and a person copies its address. */
export const callbackPage: string = page(
  'Page not found',
  html`<h1>Page not found</h1>
    <p>
      That is as it should be: the sign-in is done. Copy the whole address of this page and paste it into the
      application that sent you here.
    </p>`,
)
