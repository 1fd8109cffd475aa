/**
 * `emulator.signInByHand`: what a person does with the service's pages, over HTTP. What the person reads off a page is looked up
 * in the session that the page belongs to.
 */
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { authorizeEndpointPath } from '../state/authorization-request.ts'
import type { ServiceState } from '../state/service-state.ts'
import { sessionCookie, type Session } from '../state/sessions.ts'

/** Who signs in by hand. */
export interface SignInByHandOptions {
  /** E-mail address; default the `login_hint` of the address, else the first account. */
  readonly identity?: string
  /** Password; default the account's own. */
  readonly credential?: string
  /** Six digits, for an account with a second factor; default the current passcode of its first one. */
  readonly passcode?: string
}

interface Page {
  readonly url: URL
  readonly status: number
  readonly body: string
  readonly location: string | undefined
}

/**
 * @param ca PEM of the certificate authority, with TLS
 * @returns the address that the browser ends on, with its code
 * @throws {TypeError} The address is not one of the service's.
 * @throws {Error} The sign-in ended on a page, whose status and message are in the error.
 */
export async function signInByHand(
  service: ServiceState,
  address: string | URL,
  { identity, credential, passcode }: Required<SignInByHandOptions>,
  ca: string | undefined,
): Promise<string> {
  const browser = createBrowser(service, ca)
  let page = await browser.send(new URL(address))
  if (page.status === 303 && page.location !== undefined) page = await browser.send(new URL(page.location, page.url))
  const session = browser.session()
  if (!session) throw endedOn(page)

  const post = (fields: Readonly<Record<string, string>>): Promise<Page> => {
    const action = new URL(`${authorizeEndpointPath}?${new URL(page.url).searchParams.toString()}`, page.url)
    action.searchParams.delete('login_hint')
    return browser.send(action, new URLSearchParams(fields))
  }
  if (session.asksFor === 'identity') page = await post({ ...Object.fromEntries(session.hidden), identity })
  page = await post({ ...Object.fromEntries(session.hidden), identity, credential })
  if (page.location === undefined && session.pending) {
    const { account, csrf: _csrf } = session.pending
    const { transactionId: transaction_id } = session
    const fields = { transaction_id, factor_id: account.factors[0]?.id, passcode, _csrf }
    const verified = await browser.send(new URL(`${authorizeEndpointPath}/mfa/verify`, page.url), fields)
    if (!verified.body.includes('"valid":true'))
      throw new Error(`The sign-in by hand ended at its passcode, with status ${verified.status}`)
    page = await post({ transaction_id, _csrf })
  }
  if (page.location === undefined) throw endedOn(page)
  return new URL(page.location, page.url).href
}

function createBrowser({ instances, sessions }: ServiceState, ca: string | undefined) {
  const known = [instances.home, instances.regional]
  let instance = instances.home
  let sessionId: string | undefined
  return {
    /** Of the page that was shown last. */
    session: (): Session | undefined => sessions.find(sessionId, instance),
    async send(url: URL, body?: URLSearchParams | object): Promise<Page> {
      const asked = known.find((each) => each.url === url.origin)
      if (!asked) {
        const addresses = known.map((each) => each.url).join(' or ')
        throw new TypeError(`signInByHand(url) takes an address of the emulator: ${addresses}`)
      }
      instance = asked
      const isForm = body instanceof URLSearchParams
      const headers = {
        ...(sessionId !== undefined && { cookie: `${sessionCookie}=${sessionId}` }),
        ...(body && { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' }),
      }
      const options = { method: body ? 'POST' : 'GET', headers, agent: false as const }
      const sent =
        url.protocol === 'https:'
          ? httpsRequest(url, { ...options, ca, maxVersion: 'TLSv1.2' })
          : httpRequest(url, options)
      sent.end(isForm ? body.toString() : body && JSON.stringify(body))
      const [response]: IncomingMessage[] = await once(sent, 'response')
      if (!response) throw new Error('The emulator did not answer')
      const cookie = response.headers['set-cookie']?.find((line) => line.startsWith(`${sessionCookie}=`))
      sessionId = cookie?.slice(sessionCookie.length + 1).split(';')[0] ?? sessionId
      const { statusCode = 0, headers: received } = response
      return { url, status: statusCode, body: await text(response), location: received.location }
    },
  }
}

function endedOn({ status, body }: Page): Error {
  const said =
    /var messages = \{"_":\["([^"]*)"\]\}/u.exec(body) ??
    /<h1>([^<]*)/u.exec(body) ??
    /<title>([^<]*)/u.exec(body) ??
    []
  return new Error(`The sign-in by hand ended on a page, with status ${status}: ${said[1] ?? 'no page'}`)
}
