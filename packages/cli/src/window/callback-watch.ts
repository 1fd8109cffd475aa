/**
 * Watches where the pages of a browser go, and stops the one that leaves for the redirect address before it does: no request
 * is sent there, and no other program is called.
 */
import { type AuthorizationRequest, isCallback } from '@owner-sso/core'
import type { DebuggingPipe } from './debugging-pipe.ts'

/** A page that was stopped on its way to the redirect address. */
export interface StoppedPage {
  /** Where it was about to go, query and all. */
  readonly address: string
  readonly show: (html: string) => Promise<void>
}

/**
 * Stops every page, of whichever tab or window, that leaves for the redirect address of `request`. Resolves when all pages
 * that are opened from now on are watched.
 *
 * @throws Error where the browser refuses, or is gone
 */
export async function watchForCallback(
  pipe: DebuggingPipe,
  request: AuthorizationRequest,
  onStopped: (page: StoppedPage) => void,
): Promise<void> {
  pipe.on('Fetch.requestPaused', ({ requestId, request: { url }, responseHeaders = [] }) => {
    const location = responseHeaders.find(({ name }) => name.toLowerCase() === 'location')?.value
    const address = [url, absolute(location, url)].find((each) => isCallback(each, request))
    if (address === undefined) void quietly(pipe.call('Fetch.continueRequest', { requestId }))
    else onStopped({ address, show: (html) => pipe.call('Fetch.fulfillRequest', answerWith(html, requestId)) })
  })
  pipe.on('Page.frameRequestedNavigation', ({ url }) => {
    if (isCallback(url, request)) onStopped({ address: url, show: () => Promise.resolve() })
  })
  pipe.on('Target.attachedToTarget', ({ sessionId }) => {
    void quietly(pipe.call('Page.enable', {}, sessionId))
    void quietly(pipe.call('Runtime.runIfWaitingForDebugger', {}, sessionId))
  })
  await (isWebAddress(request) ? watchRequests(pipe, request) : watchRedirects(pipe))
}

/** Nothing but requests to the redirect address is seen of the pages. */
async function watchRequests(pipe: DebuggingPipe, { redirectUri }: AuthorizationRequest): Promise<void> {
  const urlPattern = `${new URL(redirectUri).href.replaceAll(/[\\*?]/gu, String.raw`\$&`)}*`
  await pipe.call('Fetch.enable', { patterns: [{ urlPattern, requestStage: 'Request' }] })
}

/**
 * No request is ever made for an address of an app's own scheme: it is seen in the answer that redirects there, or in the
 * navigation that a page's script begins.
 */
async function watchRedirects(pipe: DebuggingPipe): Promise<void> {
  const patterns = [{ urlPattern: '*', resourceType: 'Document', requestStage: 'Response' }]
  await pipe.call('Fetch.enable', { patterns })
  const pages = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter: [{ type: 'page' }] }
  await pipe.call('Target.setAutoAttach', pages)
}

function isWebAddress({ redirectUri }: AuthorizationRequest): boolean {
  return /^https?:/u.test(redirectUri)
}

function absolute(location: string | undefined, base: string): string {
  return location !== undefined && URL.canParse(location, base) ? new URL(location, base).href : ''
}

function answerWith(html: string, requestId: string): object {
  const responseHeaders = [
    { name: 'content-type', value: 'text/html; charset=utf-8' },
    { name: 'content-security-policy', value: "default-src 'none'; style-src 'unsafe-inline'" },
  ]
  return { requestId, responseCode: 200, responseHeaders, body: Buffer.from(html).toString('base64') }
}

/** A page that was closed meanwhile needs no answer. */
async function quietly(call: Promise<void>): Promise<void> {
  await call.catch(() => undefined)
}
