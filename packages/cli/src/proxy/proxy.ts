/**
 * `owner-sso proxy`: the owner API at a local address, with the account's access token.
 */
import { ownerApiProxy } from '@owner-sso/express'
import { requireSignedIn, chosenAccount } from '../tokens/account.ts'
import type { Call } from '../command-line/command.ts'
import type { proxy } from '../commands/proxy.ts'
import { exitCodes, usageError } from '../command-line/command-error.ts'
import { stopped, untilStopped } from '../command-line/interruption.ts'
import { isAddressedToLoopback, listenOnLoopback } from './loopback-server.ts'
import { printData, printJson, printNote } from '../terminal/output.ts'
import { apiUrlOf, refreshService, transportOf } from '../settings/configured-service.ts'
import { withTokens } from '../tokens/token-keeping.ts'

/** Milliseconds that calls under way may take to end. */
const grace = 5000

export async function run({ settings, options }: Call<typeof proxy>): Promise<number> {
  const target = apiUrlOf(settings)
  const port = portOf(options.port)
  await withTokens(settings, refreshService(settings), async ({ tokens }) => {
    const account = await chosenAccount(settings, tokens)
    // Not signed in is told now, not to the first caller.
    await requireSignedIn(account, tokens, () => tokens.getAccessToken(account, { signal: stopped }))
    const proxy = ownerApiProxy({
      target,
      tokens,
      account,
      authorize: isAddressedToLoopback,
      onProblem: (error, { code }) => printNote(`${code}: ${error instanceof Error ? error.message : 'unknown'}`),
      ...transportOf(settings),
    })
    const { server, url } = await listenOnLoopback((request, response) => proxy(request, response), port)
    server.on('connect', proxy.refuse)
    await (settings.json ? printJson({ url, account, target }) : printData(url))
    printNote(`Calls to ${url}/api/1/… go to ${target} as ${account}. Ctrl-C ends it.`)
    await untilStopped()
    server.close()
    await proxy.close({ timeout: grace })
    server.closeAllConnections()
  })
  return exitCodes.ok
}

function portOf(text: string | undefined): number {
  const port = Number(text ?? 0)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text !== '') return port
  throw usageError(
    `${JSON.stringify(text)} is not a port.`,
    'Give --port a number from 1 to 65535, or omit it for any free port.',
  )
}
