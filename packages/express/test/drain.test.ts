import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from '@jest/globals'
import { drainOf } from '../src/support.ts'

it('gives a slow caller time to read its answer', async () => {
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

it('answers every call that was under way on a connection, also those that wait behind another one', async () => {
  const held: ServerResponse[] = []
  const server = createServer((_request, response) => held.push(response))
  const drain = drainOf(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2))
  while (held.length < 2) await once(server, 'request')
  const drained = drain()
  for (const [number, response] of held.entries()) response.end(`answer ${number}`)

  expect((await text(socket)).match(/answer \d/gu)).toEqual(['answer 0', 'answer 1'])
  await drained
})

it('keeps nothing of a connection that has ended', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const server = createServer((_request, response) => response.end())
  const drain = drainOf(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const kept: WeakRef<object>[] = []
  const ended: Promise<unknown>[] = []
  server.on('connection', (socket) => {
    kept.push(new WeakRef(socket))
    ended.push(once(socket, 'close').then(() => undefined))
  })
  for (let calls = 0; calls < 5; calls += 1) {
    const [answer] = (await once(get({ port, host: '127.0.0.1', agent: false }), 'response')) as [IncomingMessage]
    await buffer(answer)
  }
  await Promise.all(ended)
  // Node itself may hold on to the last one for a while.
  const isMostlyGone = (): boolean => kept.filter((socket) => socket.deref() !== undefined).length <= 1
  for (let turns = 0; turns < 500 && !isMostlyGone(); turns += 1) {
    await turn()
    collectGarbage()
  }
  expect(kept).toHaveLength(5)
  expect(isMostlyGone()).toBe(true)
  await drain()
})
