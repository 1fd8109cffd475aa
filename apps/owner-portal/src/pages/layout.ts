/**
 * The frame of every page: head, header, one main column.
 */
import { html } from 'hono/html'

/** Markup in which every value was escaped. */
export type Html = ReturnType<typeof html>

export interface Frame {
  /** What the page is, for the browser's tab. */
  readonly title: string
  /** One narrow column, for forms and messages. */
  readonly narrow?: boolean
  /** What stands at the right of the header. */
  readonly aside?: Html
}

/** A whole document around `content`. Works without client-side JavaScript; there is none. */
export function layout({ title, narrow = false, aside }: Frame, content: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Owner portal</title>
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/assets/portal.css" />
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="30" height="30" />Owner portal</a>
          ${aside}
        </header>
        <main id="content" class="column ${narrow ? 'narrow' : ''}" tabindex="-1">${content}</main>
      </body>
    </html>`
}
