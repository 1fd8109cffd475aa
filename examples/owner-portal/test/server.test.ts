/** The server takes another port where one is busy, and ends promptly. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { serve } from '../src/server.ts'

describe('serve', () => {
  it('takes the next port where the one asked for is busy', async () => {
    const first = await serve((_request, response) => response.end('first'), '127.0.0.1', 0)
    const second = await serve((_request, response) => response.end('second'), '127.0.0.1', first.port)
    expect(second.port).not.toBe(first.port)
    expect(await (await fetch(second.url)).text()).toBe('second')
    await Promise.all([first.close(), second.close()])
  })

  it('says so where it may not listen at all', async () => {
    await expect(serve(() => undefined, '203.0.113.1', 0)).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' })
  })

  it('writes an IPv6 address as a browser takes it', async () => {
    const server = await serve((_request, response) => response.end('six'), '::1', 0)
    expect(await (await fetch(server.url)).text()).toBe('six')
    await server.close()
  })

  it('ends although a client keeps its connection open, and another never finishes its request', async () => {
    const server = await serve((_request, response) => response.end(), '127.0.0.1', 0)
    const idle = connect(server.port, '127.0.0.1')
    const slow = connect(server.port, '127.0.0.1')
    idle.on('error', () => undefined)
    slow.on('error', () => undefined)
    await Promise.all([once(idle, 'connect'), once(slow, 'connect')])
    slow.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx')
    await expect(server.close()).resolves.toBeUndefined()
  })
})
