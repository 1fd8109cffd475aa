/**
 * The entrance and the exit: who brings a code comes in, and gets a cookie that says so.
 */
import type { TokenStore } from '@owner-sso/core'
import { takeCode } from './entry-code.ts'
import { type Exchange, type Route, sendPage, sendTo } from './exchange.ts'
import { entryPage } from './pages/entry-page.ts'
import type { Visitors } from './visitor.ts'

export interface Entrance {
  /** What somebody gets to see who did not come in. */
  readonly show: (exchange: Exchange) => Promise<void>
  readonly enter: Route
  readonly leave: Route
}

export function entranceOf(store: TokenStore, path: string, visitors: () => Promise<Visitors>): Entrance {
  const show = (exchange: Exchange, status = 200, wrong?: string): Promise<void> => {
    const { formToken, isInside } = exchange.visitor
    const problem = wrong === undefined ? undefined : { title: wrong }
    return sendPage(exchange, status, entryPage({ path, formToken, isInside }, problem))
  }
  return {
    show,
    async enter(exchange) {
      const isRight = await takeCode(store, exchange.form.get('code') ?? '')
      if (!isRight) return show(exchange, 401, 'This code is not right, or was used, or is too old.')
      return sendTo(exchange, path, (await visitors()).fresh(true).cookie)
    },
    leave: async (exchange) => sendTo(exchange, path, (await (await visitors()).leave(exchange.visitor)).cookie),
  }
}
