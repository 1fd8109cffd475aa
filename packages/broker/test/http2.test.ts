/** A server of the application's may speak HTTP/2, where the host and the end of a body are told in other ways. */
import { once } from 'node:events'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { startHome } from './broker-home.ts'

it('a broker on HTTP/2 knows its host, and goes on after a request with a body that a GET can’t have', async () => {
  await using home = await startHome()
  const authorization = `Bearer ${await home.invite('reader')}`
  const server = createServer((request, response) => home.broker.handler(request as never, response as never))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const session = connect(`http://127.0.0.1:${port}`)
  const call = async (headers: object, body?: string): Promise<string> => {
    const stream = session.request({ ':path': '/token', authorization, ...headers }, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    const [answer] = await once(stream, 'response')
    return [answer[':status'], ...(/ERR_\w+/u.exec(await text(stream)) ?? [])].join(' ')
  }
  try {
    expect(await call({})).toBe('200')
    expect(await call({}, 'a body')).toBe('400 ERR_BROKER_MALFORMED_REQUEST')
    expect(await call({ ':authority': 'LocalHost.:1' })).toBe('200')
    expect(await call({ ':authority': 'rebound.example' })).toBe('421 ERR_BROKER_HOST')
    expect(await call({ host: 'rebound.example' })).toBe('421 ERR_BROKER_HOST')
    expect(await call({ ':authority': 'rebound.example', host: '127.0.0.1' })).toBe('421 ERR_BROKER_HOST')
  } finally {
    session.destroy()
    server.close()
  }
})
