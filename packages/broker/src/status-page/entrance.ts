/**
 * The entrance and the exit: who brings a code comes in, and gets a cookie that says so.
 */
import type { TokenStore } from '@owner-sso/core'
import { takeCode } from './entry-code.ts'
import { type Visit, type Route, sendPage, sendTo } from './visit.ts'
import { entryPage } from './pages/entry-page.ts'
import type { Visitors } from './visitor.ts'

export interface Entrance {
  /** What is shown to somebody who has not come in. */
  readonly show: (visit: Visit) => Promise<void>
  readonly enter: Route
  readonly leave: Route
}

export function entranceOf(store: TokenStore, path: string, visitors: () => Promise<Visitors>): Entrance {
  const show = (visit: Visit, status = 200, wrong?: string): Promise<void> => {
    const { formToken, isInside } = visit.visitor
    const problem = wrong === undefined ? undefined : { title: wrong }
    return sendPage(visit, status, entryPage({ path, formToken, isInside }, problem))
  }
  return {
    show,
    async enter(visit) {
      const isRight = await takeCode(store, visit.form.get('code') ?? '')
      if (!isRight) return show(visit, 401, 'This code is not right, or was used, or is too old.')
      return sendTo(visit, path, (await visitors()).fresh(true).cookie)
    },
    leave: async (visit) => sendTo(visit, path, (await (await visitors()).leave(visit.visitor)).cookie),
  }
}
