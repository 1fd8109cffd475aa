import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { drainOf } from '../src/listen/drain.ts'

it('leaves an answer that a slow caller has not read yet its time', async () => {
  const size = 32 * 1024 ** 2
  const server = createServer((_request, response) => response.end(Buffer.alloc(size)))
  const drain = drainOf(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  // The answer's head is there, its body has been handed over, and nobody reads.
  const [answer] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage]
  const drained = drain()

  expect(await buffer(answer)).toHaveLength(size)
  await drained
})
