/**
 * The frame of the broker's pages, and their style sheet and icon.
 */
import { card, csrfField, frame, type Html, look } from '#sign-in-pages'
import { html } from 'hono/html'

/** Where the page is, and who looks at it. */
export interface PageContext {
  /** Below it are all addresses of the page: `/status`. */
  readonly path: string
  readonly formToken: string
  readonly isInside: boolean
}

/** A whole document around `content`. */
export function page({ path, formToken, isInside }: PageContext, title: string, content: Html, narrow = true): Html {
  const leave = html`<form method="post" action="${path}/leave">
    ${csrfField(formToken)}<button class="link" type="submit">Sign out</button>
  </form>`
  const aside = isInside ? leave : undefined
  return frame({ site: 'Token broker', home: path, assets: path, title, narrow, aside }, content)
}

/** For what went wrong with a request. */
export function messagePage(context: PageContext, title: string, text: string): Html {
  const back = html`<p><a href="${context.path}">Back to the status page</a></p>`
  return page(context, title, card(title, text, back))
}

export const icon: string = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="#2a6a5d"/><g fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round"><circle cx="16" cy="16" r="3.4"/><path d="M16 12.6V7M18.9 17.7l4.9 2.8M13.1 17.7l-4.9 2.8"/></g></svg>`

/** What all pages share, and the overview's rows and table. */
export const style: string = `${look}
pre { padding: 0.7rem 0.9rem; border-radius: 10px; background: var(--sunken); white-space: pre-wrap; }
.rows { display: grid; list-style: none; }
.rows:not(:has(li)) { display: none; }
.rows > li { display: grid; gap: 0.45rem; padding: 0.9rem 0; border-top: 1px solid var(--line); }
.rows > li:last-child { padding-bottom: 0; }
/* Four times four letters fit a phone. */
.input.code.long { max-width: 17rem; font-size: 1.1rem; letter-spacing: 0.04em; }
.hint { margin-top: 0.5rem; }
textarea.lines { min-height: 0; background: var(--sunken); font: 0.9rem/1.5 var(--mono); field-sizing: content; }
table { width: 100%; border-collapse: collapse; font-size: 0.95rem; }
th, td { padding: 0.6rem 1rem 0.6rem 0; text-align: left; font-weight: inherit; border-top: 1px solid var(--line); }
thead th { border: 0; color: var(--quiet); font-size: 0.85rem; white-space: nowrap; }
td:first-of-type { min-width: 11rem; }
tbody th { font-weight: 620; }
@media (max-width: 44rem) {
  thead { display: none; }
  tr { display: grid; gap: 0.15rem; padding: 0.8rem 0; border-top: 1px solid var(--line); }
  tr:last-child { padding-bottom: 0; }
  th, td, td:first-of-type { display: flex; min-width: 0; justify-content: space-between; gap: 1rem; padding: 0; border: 0; text-align: right; }
  td::before { content: attr(data-label); color: var(--quiet); white-space: nowrap; }
}
`
