/**
 * The optional part of the broker protocol, in the order of its page.
 */
import { stat } from 'node:fs/promises'
import type { Answer } from './call.ts'
import { type Broker, refreshFields } from './broker.ts'
import {
  type Check,
  fieldsOf,
  Lacking,
  requireRejection,
  requireStatus,
  requireThat,
  shown,
  Unseen,
} from './finding.ts'

const wait = 'Wait for the next token'
const socket = 'A Unix socket'
const more = 'What else a broker may do'

export const optional: readonly Check[] = [
  inSection(wait, 'answers 304 once the wait is over', async (broker) => {
    const tag = encodeURIComponent((await broker.token()).headers.etag ?? '')
    const begun = performance.now()
    const answer = await broker.token(`?after=${tag}&wait=1`)
    requireStatus(answer, 304)
    requireThat(performance.now() - begun > 900, 'it answers before the second is over')
  }),
  inSection(wait, 'answers at once who has another token', async (broker) => {
    requireStatus(await broker.token('?after=another&wait=30'), 200)
  }),
  inSection(wait, 'rejects a wait that is no number', async (broker) => {
    requireStatus(await broker.token('?after=another&wait=soon'), 400)
  }),

  inSection(socket, 'needs no key there', async (broker) => {
    const answer = await onSocket(broker).call('/token')
    if (answer.status !== 200) requireRejection(answer, 400, 'code', 'ERR_BROKER_NO_ACCOUNT')
  }),
  inSection(socket, 'lets no other users in', async (broker) => {
    const { mode } = await stat(onSocket(broker).socketPath ?? '')
    requireThat((mode & 0o007) === 0, 'everybody on this machine may open it')
  }),

  inSection(more, 'takes a form at the token endpoint', async (broker) => {
    requireStatus(await form(broker, '/oauth2/v3/token'), 200)
  }),
  inSection(more, 'answers at /oauth/token too', async (broker) => {
    requireStatus(await form(broker, '/oauth/token'), 200)
  }),
  inSection(more, 'gives JSON at GET /token to who asks for it', async (broker) => {
    const fields = fieldsOf(await broker.token('', { accept: 'application/json' }))
    const missing = ['account', 'access_token', 'token_type', 'expires_in', 'expires_at'].filter(
      (name) => !(name in fields),
    )
    requireThat(missing.length === 0, `its answer is without ${missing.join(', ')}`)
  }),
  inSection(more, 'rejects an account that is not the program’s', async (broker) => {
    const answer = await broker.token('', { 'x-owner-account': 'nobody@example.invalid' })
    requireRejection(answer, 403, 'code', 'ERR_BROKER_ACCOUNT_NOT_ALLOWED')
  }),
  inSection(more, 'rejects pages in a browser', async (broker) => {
    if (broker.isOnSocket) throw new Unseen('no browser opens a Unix socket')
    requireRejected(await broker.token('', { origin: 'https://page.example' }), 403)
  }),
  inSection(more, 'rejects a Host that is not its own', async (broker) => {
    if (broker.isOnSocket) throw new Unseen('no browser opens a Unix socket')
    requireRejected(await broker.token('', { host: 'page.example' }), 421)
  }),
  inSection(more, 'says at /healthz that it lives', async (broker) => {
    requireStatus(await broker.call('/healthz'), 200)
  }),
]

function inSection(section: string, name: string, look: Check['look']): Check {
  return { isRequired: false, section, name, look }
}

/** @throws Unseen where the broker is asked at a port */
function onSocket(broker: Broker): Broker {
  if (!broker.isOnSocket) throw new Unseen('give its unix: address')
  return broker
}

function form({ call, key }: Broker, path: string): Promise<Answer> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return call(path, { method: 'POST', headers, body: new URLSearchParams(refreshFields(key)).toString() })
}

/** A proxy in front may reject in its own words. */
function requireRejected(answer: Answer, status: number): void {
  if (answer.status < 400) throw new Lacking(`it answers ${shown(answer)}, not ${status}`)
}
