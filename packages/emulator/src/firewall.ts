/** The web application firewall: who is challenged, and the page they get (interface document, "Errors" and "Limits"). */
import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.ts'
import { createExpiringMap } from './expiring-map.ts'
import { html } from './html.ts'
import type { Settings } from './options.ts'
import { htmlReply, type Reply } from './reply.ts'
import type { ServiceRequest } from './service-request.ts'

const MAX_CLIENTS = 10_000
const BROWSER =
  /\b(?:Mozilla|AppleWebKit|Gecko|Chrome|Chromium|CriOS|Safari|Firefox|FxiOS|Edge?|EdgA|OPR|Opera|MSIE|Trident)\//iu

export interface Firewall {
  /** Whether this request gets the challenge page. Counts it. */
  blocks(request: ServiceRequest): boolean
  /** Every client begins anew. */
  forget(): void
}

export function createFirewall(clock: Clock, settings: Settings): Firewall {
  const { firewall, allowBrowsers } = settings
  if (!firewall) return { blocks: () => false, forget: () => undefined }
  const { maxRequests, windowSeconds, blockSeconds } = firewall
  const blocked = createExpiringMap<true>({ clock, lifetime: blockSeconds, max: MAX_CLIENTS })
  const windows = createExpiringMap<{ requests: number }>({ clock, lifetime: windowSeconds, max: MAX_CLIENTS })

  function isExcessive(client: string): boolean {
    const current = windows.get(client) ?? { requests: 0 }
    if (current.requests === 0) windows.set(client, current)
    current.requests += 1
    return current.requests > maxRequests
  }

  return {
    blocks(request) {
      // A client is its address and fingerprint: a person's browser doesn't block the program beside it.
      const client = JSON.stringify([request.address, request.userAgent, request.tlsVersion])
      if (blocked.get(client)) return true
      const browser = isBrowser(request.userAgent)
      if (browser && isAllowed(request.userAgent, allowBrowsers)) return false
      if (!browser && request.tlsVersion !== 'TLSv1.3' && !isExcessive(client)) return false
      blocked.set(client, true)
      return true
    },
    forget() {
      blocked.clear()
      windows.clear()
    },
  }
}

/** Whether a User-Agent names a browser. */
export function isBrowser(userAgent: string): boolean {
  return BROWSER.test(userAgent)
}

/** The challenge page as recorded; `script`: the other one, without a title, that only runs a script. */
export function challengeReply(kind: 'page' | 'script' = 'page', status = 403): Reply {
  if (kind === 'script') {
    const { markup } = html`<html>
      <body>
        <script src="/${randomBytes(12).toString('hex')}?async"></script>
      </body>
    </html>`
    return htmlReply(status, markup)
  }
  const reference = `18.${randomBytes(4).toString('hex')}.${Math.floor(Date.now() / 1000)}.${randomBytes(4).toString('hex')}`
  return htmlReply(
    status,
    `<HTML><HEAD>
<TITLE>Access Denied</TITLE>
</HEAD><BODY>
<H1>Access Denied</H1>

You don't have permission to access this server.<P>
Reference&#32;&#35;${reference.replaceAll('.', '&#46;')}
<P>
<noscript>This page needs JavaScript.</noscript><script src="/_challenge.js"></script>
</BODY>
</HTML>
`,
  )
}

function isAllowed(userAgent: string, allowBrowsers: boolean | RegExp): boolean {
  return typeof allowBrowsers === 'boolean' ? allowBrowsers : userAgent.search(allowBrowsers) !== -1
}
