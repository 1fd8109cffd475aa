/** What a recorder makes of a service that does not answer. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { expect, it } from '@jest/globals'
import { createUpstream } from '../../src/record/upstream.ts'

it('a service that takes longer than the recorder waits is one whose connection was cut', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const connection = connect(port, '127.0.0.1')
  const upstream = createUpstream(undefined, 100)
  try {
    const { signal } = new AbortController()
    const request = { url: `http://127.0.0.1:${port}/`, method: 'GET', headers: [], body: Buffer.alloc(0) }
    expect(await upstream.send({ ...request, connection, signal })).toEqual({ kind: 'cut' })
  } finally {
    upstream.close()
    connection.destroy()
    server.close()
    server.closeAllConnections()
  }
})
