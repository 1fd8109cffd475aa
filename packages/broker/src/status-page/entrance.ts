/**
 * The entrance and the exit: who brings a code comes in, and gets a cookie that says so.
 */
import { card, csrfField, field, inputAttributes, noticeBox } from '#sign-in-pages'
import type { TokenStore } from '@owner-sso/core'
import { html } from 'hono/html'
import { takeCode } from './entry-code.ts'
import { page } from './pages/page.ts'
import { contextOf, type Visit, type Route, sendPage, sendTo } from './visit.ts'
import type { Visitors } from './visitor.ts'

export interface Entrance {
  readonly show: (visit: Visit) => Promise<void>
  readonly enter: Route
  readonly leave: Route
}

export function entranceOf(store: TokenStore, path: string, visitors: Visitors): Entrance {
  const show = (visit: Visit, status = 200, wrong?: string): Promise<void> => {
    const title = 'Enter the code'
    const input = html`<input
      class="input code long"
      autocomplete="one-time-code"
      autocapitalize="characters"
      spellcheck="false"
      maxlength="40"
      autofocus
      ${inputAttributes('code')}
    />`
    const form = html`${noticeBox(wrong === undefined ? undefined : { title: wrong }, 'bad')}
      <pre><code>owner-sso broker code</code></pre>
      <form method="post" action="${path}/enter">
        ${csrfField(visit.visitor.formToken)} ${field('code', 'Code', input)}
        <button class="button" type="submit">Enter</button>
      </form>`
    const content = card(title, 'Get a code where the broker runs. It works once, for ten minutes.', form)
    return sendPage(visit, status, page(contextOf(path, visit), title, content))
  }
  return {
    show,
    async enter(visit) {
      const isRight = await takeCode(store, visit.form.get('code') ?? '')
      if (!isRight) return show(visit, 401, 'This code is not right, or was used, or is too old.')
      return sendTo(visit, path, (await visitors.enter()).cookie)
    },
    leave: async (visit) => sendTo(visit, path, (await visitors.leave(visit.visitor)).cookie),
  }
}
