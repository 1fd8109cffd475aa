/**
 * The firewall's challenge page (interface document, "Errors"; field notes have it as recorded).
 */
import { randomBytes } from 'node:crypto'
import { htmlResponse, type ServiceResponse } from '../http/service-response.ts'
import { html } from '../support/markup.ts'

/** The challenge page as recorded; `script`: the other one, without a title, that only runs a script. */
export function challengeResponse(kind: 'page' | 'script' = 'page', status = 403): ServiceResponse {
  if (kind === 'script') {
    const { markup } = html`<html>
      <body>
        <script src="/${randomBytes(12).toString('hex')}?async"></script>
      </body>
    </html>`
    return htmlResponse(status, markup)
  }
  const reference = `18.${randomBytes(4).toString('hex')}.${Math.floor(Date.now() / 1000)}.${randomBytes(4).toString('hex')}`
  return htmlResponse(
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
