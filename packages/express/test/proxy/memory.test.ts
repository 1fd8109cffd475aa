import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import { openSocket, rawRequest } from '../raw-http.ts'

interface Holding {
  /** Kilobytes of the largest resident set so far. */
  readonly peak: number
  readonly heap: number
  readonly active: number
}

const megabytes = 200
const size = megabytes * 1024 ** 2
const concurrent = 10_000
/** Whatever were kept of a call would be more. */
const mostBytesOfOne = 32

const emulator = useEmulator({ firewall: false })
let child: ChildProcess
let url: string

beforeEach(async () => {
  child = fork(fileURLToPath(new URL('proxy-process.mjs', import.meta.url)), {
    execArgv: [],
  })
  const { access_token: token } = await emulator.issueTokens('plain@example.com')
  const { port } = await ask<{ port: number }>({
    target: emulator.ownerApiUrl,
    token,
  })
  url = `http://127.0.0.1:${port}`
})
afterEach(async () => {
  child.kill()
  await once(child, 'exit')
})

async function ask<Answer>(message: object): Promise<Answer> {
  child.send(message)
  return (await once(child, 'message'))[0] as Answer
}

async function drain(answer: Response): Promise<number> {
  let received = 0
  for await (const chunk of answer.body ?? []) received += (chunk as Uint8Array).length
  return received
}

it(`streams ${megabytes} MB down and up in memory that does not grow with the length`, async () => {
  await drain(await fetch(`${url}/api/1/bytes/1000000`))
  const before = await ask<Holding>({})
  expect(await drain(await fetch(`${url}/api/1/bytes/${size}`))).toBe(size)
  const chunk = Buffer.alloc(65_536, 'x')
  const body = Readable.from(Array.from({ length: size / chunk.length }, () => chunk))
  const init = { method: 'POST', body: Readable.toWeb(body), duplex: 'half' }
  expect(await drain(await fetch(`${url}/api/1/echo`, init as RequestInit))).toBe(size)
  const { peak } = await ask<Holding>({})
  // Buffers that are done with wait for V8 to free them, which takes its time: some 90 MB of them, however long the stream is.
  expect((peak - before.peak) / 1024).toBeLessThan(0.75 * megabytes)
}, 120_000)

it('holds nothing any more after 10,000 calls at once', async () => {
  const port = Number(new URL(url).port)
  const rush = async (calls: number): Promise<void> => {
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(port)))
    await Promise.all(
      sockets.map(async (socket) => {
        socket.resume().write('GET /api/1/vehicles HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(calls / 20 - 1))
        socket.write(rawRequest('GET', '/api/1/vehicles'))
        await once(socket, 'close')
      }),
    )
  }
  await rush(concurrent)
  let { heap } = await ask<Holding>({})
  let grown = Number.POSITIVE_INFINITY
  // Compiled code grows as well, for a few rushes, and on a busy machine later. What calls leave behind grows with every rush.
  for (let more = 0; more < 6 && grown > concurrent * mostBytesOfOne; more += 1) {
    await rush(concurrent)
    const after = await ask<Holding>({})
    expect(after.active).toBe(0)
    grown = after.heap - heap
    heap = after.heap
  }
  expect(grown).toBeLessThanOrEqual(concurrent * mostBytesOfOne)
}, 120_000)
