/** What a recorder makes of a service that does not answer. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { expect, it } from '@jest/globals'
import { createUpstream } from '../src/recorder/upstream.ts'
import { upstreamTls } from '../src/recorder/upstream-tls.ts'

it('a service that takes longer than the recorder waits is one whose connection was cut', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/at-once') response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const connection = connect(port, '127.0.0.1')
  const upstream = createUpstream(upstreamTls(), 1000)
  try {
    const { signal } = new AbortController()
    const request = { method: 'GET', headers: [], body: Buffer.alloc(0), connection, signal }
    const send = (path: string) => upstream.send({ ...request, url: `http://127.0.0.1:${port}${path}` })
    // The connection stands, so that the limit is of the answer alone.
    expect(await send('/at-once')).toMatchObject({ kind: 'answer' })
    expect(await send('/never')).toEqual({ kind: 'cut' })
  } finally {
    upstream.close()
    connection.destroy()
    server.close()
    server.closeAllConnections()
  }
})

/** Answers at once, and tells a moment before; in a process of its own, because this one is blocked meanwhile. */
const service = `
  require('node:http').createServer((request, response) => {
    console.log('asked for ' + request.url)
    setTimeout(() => response.end('x'.repeat(500_000)), 200)
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`

it('an answer that came while the recorder was held up past its limit is read', async () => {
  const patience = 1000
  const child = spawn(process.execPath, ['-e', service], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const [port] = await once(lines, 'line')
  const connection = connect(Number(port), '127.0.0.1')
  const upstream = createUpstream(upstreamTls(), patience)
  try {
    const { signal } = new AbortController()
    const request = { url: `http://127.0.0.1:${port}/`, method: 'GET', headers: [], body: Buffer.alloc(0) }
    const sending = upstream.send({ ...request, connection, signal })
    expect(await once(lines, 'line')).toEqual(['asked for /'])
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, patience + 500)
    expect(await sending).toMatchObject({ kind: 'answer', answer: { status: 200, body: { length: 500_000 } } })
  } finally {
    upstream.close()
    connection.destroy()
    child.kill()
    await once(child, 'exit')
  }
})
