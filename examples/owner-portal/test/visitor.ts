/** A person at the portal, without client-side JavaScript: opens pages and sends the forms that are on them. */
import { load } from 'cheerio'
import type { Express } from 'express'
import request, { type Response } from 'supertest'

export interface Page {
  readonly status: number
  readonly headers: Response['headers']
  readonly html: string
  /** The page's text, in one line. */
  readonly text: string
  readonly cookies: readonly string[]
  /** Where a redirect leads. */
  readonly location: string | undefined
  /** The hidden and prefilled fields of the form with this action. */
  fields(action: string): Record<string, string>
}

export interface Visitor {
  open(path: string, headers?: Record<string, string>): Promise<Page>
  /** Sends the form with this action on `page`, as a browser would, with what the person types. */
  send(page: Page, action: string, typed?: Record<string, string>, headers?: Record<string, string>): Promise<Page>
  /** Posts fields without looking at a page. */
  post(path: string, fields: Record<string, string> | string, headers?: Record<string, string>): Promise<Page>
  /** Opens what a redirect leads to. */
  follow(page: Page): Promise<Page>
  /** The session cookie as the visitor holds it now. */
  session(): string | undefined
}

export function visitor(app: Express): Visitor {
  const agent = request.agent(app)
  let session: string | undefined
  const seen = (response: Response): Page => {
    const page = pageOf(response)
    session = page.cookies.find((cookie) => cookie.includes('owner-portal='))?.split(';')[0] ?? session
    return page
  }
  const me: Visitor = {
    open: async (path, headers = {}) => seen(await agent.get(path).set(headers)),
    post: async (path, fields, headers = {}) => {
      const body = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString()
      return seen(await agent.post(path).type('form').set(headers).send(body))
    },
    send: (page, action, typed = {}, headers = {}) => me.post(action, { ...page.fields(action), ...typed }, headers),
    follow: async (page) => {
      if (page.location === undefined) throw new Error(`No redirect but ${page.status}: ${page.text}`)
      return me.open(page.location)
    },
    session: () => session,
  }
  return me
}

function pageOf({ status, headers, text: html }: Response): Page {
  const $ = load(html)
  const setCookie: unknown = headers['set-cookie']
  return {
    status,
    headers,
    html,
    text: $('body').text().replaceAll(/\s+/gu, ' ').trim(),
    cookies: Array.isArray(setCookie) ? setCookie.map(String) : [],
    location: headers['location'],
    fields: (action) => {
      const form = $(`form[action="${action}"]`).first()
      if (form.length === 0) throw new Error(`No form ${action} on this page: ${status}`)
      return Object.fromEntries(form.serializeArray().map(({ name, value }) => [name, value]))
    },
  }
}
