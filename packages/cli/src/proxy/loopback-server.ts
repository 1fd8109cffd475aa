/**
 * A server on 127.0.0.1, for this machine alone.
 */
import { type IncomingMessage, type RequestListener, type Server, createServer } from 'node:http'
import { usageError } from '../command-line/command-error.ts'

/** @throws CommandError where the port is taken */
export async function listenOnLoopback(
  handler: RequestListener,
  port: number,
): Promise<{ server: Server; url: string }> {
  const server = createServer(handler)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        usageError(`Port ${port} can’t be used (${error.code}).`, 'Give another --port, or omit it for any free port.'),
      ),
    )
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const chosen = typeof address === 'object' ? address?.port : undefined
  return { server, url: `http://127.0.0.1:${chosen}` }
}

/**
 * Whether a request was addressed to this machine by one of its own names. A page of another site whose name was made to
 * lead here (DNS rebinding) is not.
 */
export function isAddressedToLoopback({ headers }: IncomingMessage): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/iu.test(headers.host ?? '')
}
