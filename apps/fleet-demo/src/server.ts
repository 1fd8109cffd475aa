/**
 * The page's server, on loopback: the page, its live part as events, and the buttons.
 */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Fleet } from './fleet.ts'
import type { Monitor, Snapshot } from './monitor.ts'
import { live, page } from './page.ts'

const security = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}
const assets: Readonly<Record<string, string>> = { '/fleet.css': 'text/css', '/fleet.js': 'text/javascript' }

export interface RunningServer {
  readonly url: string
  readonly close: () => Promise<void>
}

/** @param port - the port asked for; where it is busy, any free one */
export async function serve(fleet: Fleet, monitor: Monitor, port: number): Promise<RunningServer> {
  const buttons: Readonly<Record<string, () => unknown>> = {
    '/night': () => fleet.passNight(),
    '/kill': () => fleet.kill(),
    '/budget/on': () => fleet.setBudget(true),
    '/budget/off': () => fleet.setBudget(false),
  }
  let url = ''

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url: path = '', headers } = request
    // Another host name: a page elsewhere whose name was pointed to this machine.
    if (`http://${headers.host}` !== url)
      return send(response, 421, 'text/plain', 'Open the address that the demo printed.')
    if (method === 'POST') {
      // Only this page's own forms: browsers send the Origin with each of them.
      if (headers.origin !== url) return send(response, 403, 'text/plain', 'Use the buttons of the page.')
      const press = buttons[path]
      if (press === undefined) return send(response, 404, 'text/plain', 'There is no such button.')
      await press()
      response.writeHead(303, { ...security, location: '/' }).end()
      return
    }
    const type = assets[path]
    if (type !== undefined)
      return send(response, 200, type, await readFile(new URL(`../assets${path}`, import.meta.url)))
    if (path === '/live') return stream(response, monitor)
    if (path !== '/') return send(response, 404, 'text/plain', 'There is no such page.')
    send(response, 200, 'text/html', String(await page(await monitor.snapshot())))
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => {
      if (response.headersSent) response.destroy()
      else send(response, 503, 'text/plain', 'The store does not answer. Load the page again.')
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  const address = server.address()
  url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : port}`
  return {
    url,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { ...security, 'content-type': `${type}; charset=utf-8` }).end(body)
}

/** Server-sent events: the live part of the page, each second. */
function stream(response: ServerResponse, monitor: Monitor): void {
  response.writeHead(200, { ...security, 'content-type': 'text/event-stream' }).flushHeaders()
  const show = async (snapshot: Snapshot): Promise<void> => {
    const markup = String(await live(snapshot))
    response.write(`data: ${markup.replaceAll('\n', '\ndata: ')}\n\n`)
  }
  const end = monitor.watch((snapshot) => void show(snapshot))
  response.once('close', end)
}
