/** Time limits of processes that are held up while the answer is on its way: what has arrived is read first. */
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { generate } from 'selfsigned'
import { type HeldUp, holdUps, startHeldUp } from './deployment/held-up.ts'

/** Milliseconds of the limit under test, and for how long the process is held up. */
const limit = 600
const duration = 1500

let certificate: { readonly key: string; readonly cert: string }
beforeAll(async () => {
  const altNames = [{ type: 7 as const, ip: '127.0.0.1' }]
  const pem = await generate([{ name: 'commonName', value: 'loopback' }], {
    keySize: 2048,
    extensions: [{ name: 'subjectAltName', altNames }],
  })
  certificate = { key: pem.private, cert: pem.cert }
})

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function listen(protocol: 'http' | 'https', listener: RequestListener): Promise<string> {
  const server = protocol === 'http' ? createHttpServer(listener) : createHttpsServer(certificate, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const address = server.address()
  return `${protocol}://127.0.0.1:${typeof address === 'object' ? address?.port : address}`
}

/** More than a socket gives away in one read, so that it takes several turns of the event loop. */
const padding = 'x'.repeat(150_000)
const tokens = {
  access_token: 'new-access',
  refresh_token: 'new-refresh',
  token_type: 'Bearer',
  expires_in: 300,
  padding,
}

const rows = holdUps.flatMap((how) => (['http', 'https'] as const).map((protocol) => ({ how, protocol })))

describe.each(rows)('a process that is $how past its time limit, over $protocol', ({ how, protocol }) => {
  test('reads the token set that came meanwhile', async () => {
    let child: HeldUp | undefined
    const authUrl = await listen(protocol, (_request, response) => {
      const answer = (): unknown =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens))
      void child?.begin().then(answer)
    })
    child = startHeldUp(
      `import { createSso } from '@owner-sso/core'
       const sso = createSso({ authUrl: given.authUrl, timeout: given.limit, tls: { ca: given.ca } })
       const old = { access_token: 'a', refresh_token: 'r', token_type: 'Bearer', expires_at: 0, auth_url: given.authUrl }
       const answer = await sso.refresh(old).catch((error) => ({ refresh_token: error.code }))
       console.log(answer.refresh_token)`,
      { authUrl, limit, ca: certificate.cert },
      { how, duration },
    )
    expect(await child.output).toBe('new-refresh')
  })

  test('gives up on an answer that did not come', async () => {
    let child: HeldUp | undefined
    const authUrl = await listen(protocol, () => void child?.begin())
    child = startHeldUp(
      `import { createSso } from '@owner-sso/core'
       const sso = createSso({ authUrl: given.authUrl, timeout: given.limit, tls: { ca: given.ca } })
       const old = { access_token: 'a', refresh_token: 'r', token_type: 'Bearer', expires_at: 0, auth_url: given.authUrl }
       console.log(await sso.refresh(old).catch((error) => error.code))`,
      { authUrl, limit, ca: certificate.cert },
      { how, duration },
    )
    expect(await child.output).toBe('ERR_SSO_TIMEOUT')
  })
})
