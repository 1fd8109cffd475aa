/**
 * A page that says what went wrong and shows a way on.
 */
import { html } from 'hono/html'
import type { Html } from '@owner-sso/sign-in-pages'
import { layout } from './layout.ts'

export interface MessagePage {
  readonly title: string
  readonly text: string
  readonly link: { readonly href: string; readonly label: string }
}

export function messagePage({ title, text, link }: MessagePage): Html {
  return layout(
    { title, narrow: true },
    html`<section class="card">
      <div class="lead">
        <h1>${title}</h1>
        <p class="quiet">${text}</p>
      </div>
      <p><a class="button" href="${link.href}">${link.label}</a></p>
    </section>`,
  )
}
