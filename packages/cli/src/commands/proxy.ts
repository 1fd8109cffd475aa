/**
 * `owner-sso proxy`: the owner API at a local address, with the account's access token.
 */
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { systemError, messageOf } from '../failure/command-error.ts'
import { stopped, untilStopped } from '../failure/interruption.ts'
import { apiUrlOf, serviceOf, connectionOf } from '../settings/configured-service.ts'
import { portOf } from '../settings/option-values.ts'
import { printData, printJson, printNote } from '../terminal/output.ts'
import { chosenAccount, requireSignedIn } from '../tokens/account.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { value } from '../options/option.ts'
import { defineCommand } from './command.ts'

const grace = 5000

export const command = defineCommand({
  name: 'proxy',
  summary: 'call the owner API through a local address',
  description:
    'Listens on 127.0.0.1 and forwards calls of /api/1/ to the owner API, with the account’s access token. Prints ' +
    'its address. Web pages of other sites are refused; every program on this machine may call. Ctrl-C ends it.',
  options: {
    port: value('<number>', 'port to listen on (default: any free one)'),
  },
  examples: [['owner-sso proxy --port 8080 & curl http://127.0.0.1:8080/api/1/products', 'no token in sight']],
  async run({ settings, options }) {
    const target = apiUrlOf(settings)
    const port = portOf(options.port ?? '0')
    const { ownerApiProxy } = await import('@owner-sso/express')
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
  },
})

async function listenOnLoopback(handler: RequestListener, port: number): Promise<{ server: Server; url: string }> {
  const { createServer } = await import('node:http')
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
