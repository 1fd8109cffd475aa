/**
 * The pages for what went wrong elsewhere: a page that isn't there, a forged form, too many tries, a fault.
 */
import { types } from 'node:util'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import { sendPage } from './send-page.ts'
import { card, type Html, waitingTime } from '@owner-sso/sign-in-pages'
import { html } from 'hono/html'
import { layout } from './pages/layout.ts'
import { unavailable } from './trouble.ts'

interface Message {
  readonly title: string
  readonly text: string
  readonly link: { readonly href: string; readonly label: string }
}

const home = { href: '/', label: 'To the start page' }

const signIn = { href: '/sign-in', label: 'Back to the sign-in page' }

const notFoundMessage = {
  title: 'There is no such page',
  text: 'The address may be mistyped, or the page has moved.',
  link: home,
}

const messages: Readonly<Record<number, Message>> = {
  403: {
    title: 'This form has expired',
    text: 'It was not sent from a page of your session, or the session has ended. Nothing was done. Open the page again and repeat it.',
    link: signIn,
  },
  404: notFoundMessage,
  413: { title: 'That is too much', text: 'The form is larger than this portal accepts.', link: home },
}

const unreadable = { title: 'This request can’t be read', text: 'Part of it is broken. Nothing was done.', link: home }

/** The 404 page. */
export function notFound(): RequestHandler {
  return (_request, response) => sendPage(response, 404, messagePage(notFoundMessage))
}

/** Answers whatever went wrong; `log` gets one line for a fault, and what its page leaves out. Shows and logs nothing of the request. */
export function errorPages(log: (line: string) => void): ErrorRequestHandler {
  return async (error: unknown, _request, response, next) => {
    if (response.headersSent) return next(error)
    const trouble = unavailable(error)
    if (trouble) {
      const { code, problem, status, retryAfter } = trouble
      log(troubleLine(code, error))
      return sendPage(response, status, messagePage({ text: '', ...problem, link: problem.link ?? home }), retryAfter)
    }
    const status = statusOf(error)
    if (status < 500) return sendPage(response, status, messagePage(messages[status] ?? unreadable))
    log(`A page failed: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown error'}`)
    const text = 'That is the portal’s fault, not yours. Try again in a minute.'
    return sendPage(response, 500, messagePage({ title: 'Something went wrong', text, link: home }))
  }
}

/** @param retryAfter - seconds */
export function tooManyTries(retryAfter: number): Html {
  const text = `To protect your account, this portal waits after a few tries. Try again in ${waitingTime(retryAfter)}.`
  return messagePage({ title: 'Too many tries', text, link: signIn })
}

function messagePage({ title, text, link }: Message): Html {
  const way = html`<p><a class="button" href="${link.href}">${link.label}</a></p>`
  return layout({ title, narrow: true }, card(title, text, way))
}

/** What is left out of an answer, for the log: a path, a host, a system's word. An error of ours holds no secret. */
export function troubleLine(code: string, error: unknown): string {
  return `Answered ${code}: ${types.isNativeError(error) ? error.message : 'unknown error'}`
}

/** The status that Express, its body parser and the portal's own checks put on an error. */
function statusOf(error: unknown): number {
  const status = error instanceof Error && 'status' in error ? error.status : 500
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500
}
