/**
 * How a page goes out.
 */
import type { Request, Response } from 'express'
import type { Complaints, Html, Notice } from '@owner-sso/sign-in-pages'

/** What a page of a sign-in says of the attempt. */
export interface SignInAnswer {
  readonly status: number
  readonly problem?: Notice | undefined
  readonly complaints?: Complaints | undefined
  /** Seconds. */
  readonly retryAfter?: number | undefined
}

/** Sends a page; with `retryAfter` (seconds) the header of that name as well. */
export async function sendPage(response: Response, status: number, page: Html, retryAfter?: number): Promise<void> {
  if (retryAfter !== undefined) response.set('retry-after', String(retryAfter))
  response
    .status(status)
    .type('html')
    .send(String(await page))
}

/** Takes the notice that the page before left for this one. */
export function takeNotice({ session }: Request): { news?: Notice } {
  const { notice } = session
  if (!notice) return {}
  delete session.notice
  return { news: notice }
}
