/**
 * One request to the page, and the few ways to answer it. Every answer forbids frames, caches, foreign content and all
 * scripts but one.
 */
import { type Html, scriptSource } from '#sign-in-pages'
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isCrossSite } from '@owner-sso/express/support'
import { bodyText } from '../http/body-text.ts'
import { RejectedCall, rejections } from '../http/rejection.ts'
import type { PageContext } from './pages/page.ts'
import type { Visitor } from './visitor.ts'

export interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly visitor: Visitor
  /** The fields of a form; empty for a page that is only looked at. */
  readonly form: URLSearchParams
}

/** What a page has to know of whom it is shown to. */
export function contextOf(path: string, { visitor }: Visit): PageContext {
  const { formToken, isInside } = visitor
  return { path, formToken, isInside }
}

/** Answers what is asked for under one address. @throws BadRequestError; what is nobody's mistake */
export type Route = (visit: Visit) => Promise<void> | void

/** Something is wrong with the request itself. Its message is for the person who sent it. */
export class BadRequestError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.name = 'BadRequestError'
    this.status = status
  }
}

/** Headers of every answer. `no-referrer` would make browsers send `Origin: null` with the page's own forms. */
export function secure(response: ServerResponse, isHttps: boolean): void {
  const sources = [`script-src ${scriptSource}`, "style-src 'self'", "img-src 'self'", "form-action 'self'"]
  const policy = ["default-src 'none'", ...sources, "base-uri 'none'", "frame-ancestors 'none'"]
  response.setHeader('content-security-policy', policy.join('; '))
  response.setHeader('x-frame-options', 'DENY')
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('referrer-policy', 'same-origin')
  response.setHeader('cross-origin-opener-policy', 'same-origin')
  response.setHeader('cross-origin-resource-policy', 'same-origin')
  response.setHeader('cache-control', 'no-store')
  if (isHttps) response.setHeader('strict-transport-security', 'max-age=31536000')
}

/** Node leaves the page out where the request is a HEAD. */
export async function sendPage({ response, visitor }: Visit, status: number, page: Html): Promise<void> {
  const text = String(await page)
  if (visitor.cookie !== undefined) response.setHeader('set-cookie', visitor.cookie)
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
  response.end(text)
}

export function sendTo({ response }: Visit, path: string, cookie?: string): void {
  if (cookie !== undefined) response.setHeader('set-cookie', cookie)
  response.writeHead(303, { location: path }).end()
}

/**
 * The fields of a form that was posted from one of this visitor's own pages.
 *
 * @throws BadRequestError
 */
export async function readForm(request: IncomingMessage, visitor: Visitor): Promise<URLSearchParams> {
  if (isCrossSite(request, new Set())) throw new BadRequestError(403, 'This form was sent by a page of another site.')
  if (!/^application\/x-www-form-urlencoded\b/iu.test(request.headers['content-type'] ?? '')) {
    throw new BadRequestError(415, 'This is not a form.')
  }
  const text = await bodyText(request).catch((error: unknown) => {
    if (!(error instanceof RejectedCall)) throw error
    throw new BadRequestError(rejections[error.code][0], error.message)
  })
  const form = new URLSearchParams(text)
  const [sent, right] = [Buffer.from(form.get('_csrf') ?? ''), Buffer.from(visitor.formToken)]
  const isOwn = sent.length === right.length && timingSafeEqual(sent, right)
  if (visitor.cookie === undefined && isOwn) return form
  throw expiredForm()
}

export function expiredForm(): BadRequestError {
  return new BadRequestError(403, 'This form has expired. Nothing was done: open the page again and repeat it.')
}
