/**
 * `owner-sso proxy`: the owner API at a local address, with the account's access token.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { ownerApiProxy } from '@owner-sso/express'
import type { Call } from '../manual/command.ts'
import { systemError, messageOf } from '../failure/command-error.ts'
import { stopped, untilStopped } from '../failure/interruption.ts'
import type { proxy } from '../manual/manual.ts'
import { apiUrlOf, serviceOf, connectionOf } from '../settings/configured-service.ts'
import { portOf } from '../settings/port.ts'
import { printData, printJson, printNote } from '../terminal/output.ts'
import { chosenAccount, requireSignedIn } from '../tokens/account.ts'
import { withTokens } from '../tokens/token-keeping.ts'

/** Milliseconds that calls under way may take to end. */
const grace = 5000

export async function run({ settings, options }: Call<typeof proxy>): Promise<void> {
  const target = apiUrlOf(settings)
  const port = portOf(options.port ?? '0')
  await withTokens(settings, serviceOf(settings), async ({ tokens }) => {
    const account = await chosenAccount(settings, tokens)
    // Not signed in is told now, not to the first caller.
    await requireSignedIn(account, tokens, () => tokens.getAccessToken(account, { signal: stopped }))
    const proxy = ownerApiProxy({
      target,
      tokens,
      account,
      authorize: isAddressedToLoopback,
      onProblem: (error, { code }) => printNote(`${code}: ${messageOf(error)}`),
      ...connectionOf(settings),
    })
    const { server, url } = await listenOnLoopback((request, response) => proxy(request, response), port)
    server.on('connect', proxy.reject)
    await (settings.json ? printJson({ url, account, target }) : printData(url))
    printNote(`Calls to ${url}/api/1/… go to ${target} as ${account}. Ctrl-C ends it.`)
    await untilStopped()
    server.close()
    await proxy.close({ timeout: grace })
    server.closeAllConnections()
  })
}

/** @throws CommandError where the port is taken */
async function listenOnLoopback(handler: RequestListener, port: number): Promise<{ server: Server; url: string }> {
  const server = createServer(handler)
  await new Promise<void>((resolve, reject) => {
    const next = 'Give another --port, or omit it for any free port.'
    server.once('error', (error) => reject(systemError(`Port ${port} can’t be used`, error, next)))
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  return { server, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}` }
}

/**
 * Whether a request was addressed to this machine by one of its own names. A page of another site whose name was made to
 * lead here (DNS rebinding) is not.
 */
function isAddressedToLoopback({ headers }: IncomingMessage): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/iu.test(headers.host ?? '')
}
