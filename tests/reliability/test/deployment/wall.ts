/** The firewall before the token host, as a data centre meets it: its page for every request, and the count of them. */
import { once } from 'node:events'
import { createServer } from 'node:http'

export interface Wall {
  readonly url: string
  /** Connections count as well: nothing is to knock. */
  readonly knocks: () => number
  readonly close: () => Promise<void>
}

export async function startWall(): Promise<Wall> {
  let knocks = 0
  const page = '<html><head><title>Access Denied</title></head><body>Reference&#32;&#35;18</body></html>'
  const server = createServer((_request, response) => {
    response.writeHead(403, { 'content-type': 'text/html' }).end(page)
  })
  server.on('connection', () => (knocks += 1))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    knocks: () => knocks,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
