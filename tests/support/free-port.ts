/**
 * A port of loopback that nobody listens on, and that stays free: it is outside the range of which the system gives ports to
 * whoever asks for any. Each test process has some hundreds for itself, and gives each of them once: between the look and the
 * server's start nobody else takes it.
 */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the first port that Linux gives out. */
const [first, last] = [15_000, 32_000]
const portsOfProcess = 250
const slice = process.pid % Math.floor((last - first) / portsOfProcess)
let next = randomInt(portsOfProcess)

export async function freePort(): Promise<number> {
  next = (next + 1) % portsOfProcess
  const port = first + slice * portsOfProcess + next
  return (await isFree(port)) ? port : freePort()
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
