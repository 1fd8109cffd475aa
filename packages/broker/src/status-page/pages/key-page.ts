/**
 * A program's new key, with lines to paste. Only ever the answer to the form that made it.
 */
import { accountQuery, card, copyButton, field, type Html, noticeBox } from '#sign-in-pages'
import { html } from 'hono/html'
import type { ClientScope, Invited } from '../../clients/client.ts'
import { page, type PageContext } from './page.ts'

export interface KeyPage extends PageContext {
  readonly invited: Invited
  /** The broker's, as this browser calls it. */
  readonly address: string
  readonly vehicleList: string
  /** One of its accounts that is not signed in. */
  readonly missing: string | undefined
}

export function keyPage(shown: KeyPage): Html {
  const { invited, address, vehicleList, path, missing } = shown
  const { client, refresh_token: key } = invited
  const title = `The key of ${client.name}`
  const lead = 'It is shown this once: copy it now. Whoever has it gets what the program gets.'
  const notice =
    missing === undefined
      ? undefined
      : {
          title: `${missing} is not signed in`,
          text: 'The program gets nothing for it until it is.',
          link: { href: `${path}/sign-in${accountQuery(missing)}`, label: 'Sign in' },
        }
  const content = html`${noticeBox(notice, 'bad')} ${copied('key', 'Key', key)} ${copyButton('key', 'Copy the key')}
    ${client.scope.map((scope) => linesOf(scope, key, address, vehicleList))}
    ${
      client.accounts.length > 1 &&
      html`<p class="quiet">Each call names one of its accounts, in the header <code>X-Owner-Account</code>.</p>`
    }
    <p><a href="${path}">Back to the status page</a></p>`
  return page(shown, title, card(title, lead, content), false)
}

function linesOf(scope: ClientScope, key: string, address: string, vehicleList: string): Html {
  // On standard input: everybody on a machine can read the arguments of its programs.
  const curl = (path: string) =>
    `curl -fsS --config - ${address}${path} <<END\nheader = "Authorization: Bearer ${key}"\nEND\n`
  const request = (path: string) =>
    `request = urllib.request.Request("${address}${path}", headers={"Authorization": "Bearer ${key}"})`
  if (scope === 'token') {
    const python = [
      'import urllib.request',
      request('/token'),
      'token = urllib.request.urlopen(request).read().decode()',
    ]
    return html`<h2>Get the current token</h2>
      ${copied('curl', 'curl', `token=$(${curl('/token')})`)} ${copied('python', 'Python', python.join('\n'))}
      ${copied(
        'client',
        'Settings of a home server, or another client of the service',
        `Address of the service: ${address}\nRefresh token: ${key}`,
      )}`
  }
  const python = [
    'import json, urllib.request',
    request(vehicleList),
    'print(json.load(urllib.request.urlopen(request)))',
  ]
  return html`<h2>Call the owner API</h2>
    ${copied('curl-call', 'curl', curl(vehicleList).trimEnd())} ${copied('python-call', 'Python', python.join('\n'))}
    ${copied(
      'client-call',
      'Settings of a home server, or another client of the owner API',
      `Address of the owner API: ${address}\nAccess token: ${key}`,
    )}`
}

/** Can be selected with the keyboard alone. */
function copied(id: string, label: string, text: string): Html {
  const rows = text.split('\n').length
  return field(id, label, html`<textarea class="input lines" id="${id}" rows="${rows}" readonly>${text}</textarea>`)
}
