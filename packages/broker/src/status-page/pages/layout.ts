/**
 * The frame of every page, and the parts that forms share. Every value is escaped where it enters the markup.
 */
import { html } from 'hono/html'
import { visible } from '../../visible.ts'

/** Markup in which every value was escaped. */
export type Html = ReturnType<typeof html>

/** Where the page is, and who looks at it. */
export interface PageContext {
  /** Below it are all addresses of the page: `/status`. */
  readonly path: string
  readonly formToken: string
  /** Somebody who came in can leave. */
  readonly isInside: boolean
}

/** Something to tell. */
export interface Notice {
  readonly kind: 'good' | 'bad'
  readonly text: string
}

/** A whole document around `content`. Works without client-side JavaScript; there is none. */
export function layout({ path, formToken, isInside }: PageContext, title: string, content: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Token broker</title>
        <link rel="icon" href="${path}/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${path}/style.css" />
      </head>
      <body>
        <header class="top">
          <a class="brand" href="${path}"><img src="${path}/icon.svg" alt="" width="30" height="30" />Token broker</a>
          ${
            isInside &&
            html`<form method="post" action="${path}/leave">
              ${tokenField(formToken)}<button class="link" type="submit">Leave</button>
            </form>`
          }
        </header>
        <main>${content}</main>
      </body>
    </html>`
}

/** A page with one narrow card. */
export function card(context: PageContext, title: string, content: Html): Html {
  return layout(
    context,
    title,
    html`<section class="card narrow">
      <h1>${title}</h1>
      ${content}
    </section>`,
  )
}

/** The hidden field that proves where a form comes from. */
export function tokenField(formToken: string): Html {
  return html`<input type="hidden" name="_csrf" value="${formToken}" />`
}

/** A bad one is announced at once by screen readers, a good one when they come to it. */
export function noticeBox(notice: Notice | undefined): Html {
  if (notice === undefined) return html``
  return html`<p class="notice ${notice.kind}" role="${notice.kind === 'bad' ? 'alert' : 'status'}">
    ${visible(notice.text)}
  </p>`
}

/** For what went wrong with a request. */
export function messagePage(context: PageContext, title: string, text: string): Html {
  return card(
    context,
    title,
    html`<p>${visible(text)}</p>
      <p><a href="${context.path}">Back to the status page</a></p>`,
  )
}
