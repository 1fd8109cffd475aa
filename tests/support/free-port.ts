/**
 * A port of loopback that nobody listens on, and that stays free: it is outside the range of which the system gives ports to
 * whoever asks for any, and drawn at random, so that two test processes hardly ever draw the same.
 */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the first port that Linux gives out. */
const [first, last] = [15_000, 32_000]

export async function freePort(): Promise<number> {
  const port = randomInt(first, last)
  return (await isFree(port)) ? port : freePort()
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
