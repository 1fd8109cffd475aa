/**
 * The frame of every page: head, header, one main column. Every value is escaped where it enters the markup.
 */
import { visible } from '@owner-sso/core'
import { html, raw } from 'hono/html'
import { pageScript } from './page-script.ts'

/** Markup in which every value was escaped. */
export type Html = ReturnType<typeof html>

export interface Frame {
  /** Whose pages they are. */
  readonly site: string
  /** Where the brand in the header leads. */
  readonly home: string
  /** Below it are `style.css` and `icon.svg`. */
  readonly assets: string
  /** What the page is, for the browser's tab. */
  readonly title: string
  /** One narrow column, for forms and messages. */
  readonly narrow?: boolean
  /** What stands at the right of the header. */
  readonly aside?: Html | undefined
}

/** A whole document around `content`. All of it works without JavaScript; times are in UTC then. */
export function frame({ site, home, assets, title, narrow = false, aside }: Frame, content: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${visible(title)} · ${site}</title>
        <link rel="icon" href="${assets}/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${assets}/style.css" />
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="top">
          <a class="brand" href="${home}"><img src="${assets}/icon.svg" alt="" width="30" height="30" />${site}</a>
          ${aside}
        </header>
        <main id="content" class="column ${narrow ? 'narrow' : ''}" tabindex="-1">${content}</main>
        ${raw(`<script>${pageScript}</script>`)}
      </body>
    </html>`
}

/** A card with a heading, what it is about, and its content. */
export function card(title: string, lead: string | undefined, content: Html): Html {
  return html`<section class="card">
    <div class="lead">
      <h1>${visible(title)}</h1>
      ${lead !== undefined && html`<p class="quiet">${visible(lead)}</p>`}
    </div>
    ${content}
  </section>`
}
