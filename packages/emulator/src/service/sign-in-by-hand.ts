/**
 * `emulator.signInByHand`: what a person does with the service's pages, as far as they are plain HTML: opens one, fills its form in,
 * types the passcode where one is asked for, and stops at the redirect to the application.
 */
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { readForm } from '../pages/read-form.ts'

/** Who signs in by hand. */
export interface SignInByHandOptions {
  /** E-mail address; default the `login_hint` of the address, else the first account. */
  readonly identity?: string
  /** Password; default the account's own. */
  readonly credential?: string
  /** Six digits, for an account with a second factor; default the current passcode of its first one. */
  readonly passcode?: string
}

/** A person at the login page of an emulator, who knows everything that is typed. */
export interface PersonByHand extends Required<SignInByHandOptions> {
  /** Base addresses of the service: no other host gets the credential. */
  readonly instances: readonly string[]
  /** PEM of the certificate authority; undefined without TLS. */
  readonly ca: string | undefined
  /** The version that is spoken, with TLS. */
  readonly tlsVersion: 'TLSv1.2' | 'TLSv1.3'
}

interface Page {
  readonly url: URL
  readonly status: number
  readonly body: string
  readonly location: string | undefined
}

/** More pages than a login has: the same one came again. */
const maxPages = 4

/**
 * @returns the address that the browser ends on, with its code
 * @throws {TypeError} The address is not one of the service's.
 * @throws {Error} The sign-in ended on a page, whose status and message are in the error.
 */
export async function signInByHand(address: string | URL, person: PersonByHand): Promise<string> {
  const send = createBrowser(person)
  let page = await send(new URL(address))
  if (page.status === 303 && page.location !== undefined) page = await send(new URL(page.location, page.url))
  for (let count = 0; count < maxPages && page.location === undefined; count += 1) {
    const form = readForm(page.body)
    if (form === undefined || form.message !== undefined) break
    if (form.fields.has('passcode')) await verifyPasscode(send, page, form.hidden, person)
    else fill(form.hidden, form.fields, person)
    page = await send(actionOf(page, form.action), new URLSearchParams([...form.hidden]))
  }
  if (page.location !== undefined) return new URL(page.location, page.url).href
  const said = readForm(page.body)?.message ?? titleOf(page.body)
  throw new Error(`The sign-in by hand ended on a page, with status ${page.status}: ${said}`)
}

type Send = (url: URL, body?: URLSearchParams | object) => Promise<Page>

/** Keeps cookies, follows nothing. */
function createBrowser({ instances, ca, tlsVersion }: PersonByHand): Send {
  const cookies = new Map<string, string>()
  return async (url, body) => {
    if (!instances.includes(url.origin)) {
      throw new TypeError(`signInByHand(url) takes an address of the emulator: ${instances.join(' or ')}`)
    }
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const isForm = body instanceof URLSearchParams
    const headers = {
      ...(cookie && { cookie }),
      ...(body && { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' }),
    }
    const options = { method: body ? 'POST' : 'GET', headers, agent: false as const }
    const sent =
      url.protocol === 'https:'
        ? httpsRequest(url, { ...options, ca, minVersion: tlsVersion, maxVersion: tlsVersion })
        : httpRequest(url, options)
    sent.end(isForm ? body.toString() : body && JSON.stringify(body))
    const [response]: IncomingMessage[] = await once(sent, 'response')
    if (!response) throw new Error('The emulator did not answer')
    for (const line of response.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /([^=]*)=([^;]*)/u.exec(line) ?? []
      cookies.set(name, value)
    }
    const { statusCode = 0, headers: received } = response
    return { url, status: statusCode, body: await text(response), location: received.location }
  }
}

function fill(hidden: Map<string, string>, fields: ReadonlySet<string>, { identity, credential }: PersonByHand): void {
  if (fields.has('identity')) hidden.set('identity', identity)
  if (fields.has('credential')) hidden.set('credential', credential)
}

/** What the script of the passcode page does. */
async function verifyPasscode(
  send: Send,
  { url }: Page,
  hidden: ReadonlyMap<string, string>,
  { passcode }: PersonByHand,
): Promise<void> {
  const transactionId = hidden.get('transaction_id') ?? ''
  const query = new URLSearchParams({ transaction_id: transactionId }).toString()
  const listed = await send(new URL(`/oauth2/v3/authorize/mfa/factors?${query}`, url))
  const { data }: { data?: readonly { readonly id: string }[] } = JSON.parse(listed.body)
  const verified = await send(new URL('/oauth2/v3/authorize/mfa/verify', url), {
    transaction_id: transactionId,
    factor_id: data?.[0]?.id,
    passcode,
    _csrf: hidden.get('_csrf'),
  })
  if (!/"valid":\s*true/u.test(verified.body)) {
    throw new Error(`The sign-in by hand ended at its passcode, with status ${verified.status}`)
  }
}

/** Where a form without an action posts to: its page's own address, without the `login_hint`. */
function actionOf({ url }: Page, action: string | undefined): URL {
  if (action !== undefined) return new URL(action, url)
  const own = new URL(url)
  own.searchParams.delete('login_hint')
  return own
}

function titleOf(body: string): string {
  return /<h1>([^<]*)/u.exec(body)?.[1] ?? /<title>([^<]*)/u.exec(body)?.[1] ?? 'no page'
}
