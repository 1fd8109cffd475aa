/** A strict SSO service over real HTTP: each refresh token works once. A test holds its answers back, or loses them. */
import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ReauthenticationRequiredError, type TokenIssuer, type TokenSet } from '@owner-sso/core'

export interface SmallService extends AsyncDisposable {
  readonly url: string
  /** What each refresh token was spent for. */
  readonly successors: ReadonlyMap<string, string>
  /** Tokens of a new sign-in. */
  signIn(): TokenSet
  /** What becomes of the answers from now on. `lost`: of the next one. */
  answers: 'sent' | 'held' | 'lost'
  /** Sends those that are held. */
  release(): void
}

export async function startSmallService(): Promise<SmallService> {
  const live = new Set<string>()
  const successors = new Map<string, string>()
  let serial = 0
  let held: (() => void)[] = []
  const server = createServer((incoming, response) => {
    const spent = incoming.url?.slice(1) ?? ''
    const tokens = live.delete(spent) ? issue() : undefined
    if (tokens !== undefined) successors.set(spent, tokens.refresh_token)
    if (self.answers === 'held') held.push(() => send(response, tokens))
    else if (self.answers === 'lost') {
      self.answers = 'sent'
      response.destroy()
    } else send(response, tokens)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  function issue(): TokenSet {
    serial += 1
    live.add(`r${serial}`)
    const expires_at = Math.floor(Date.now() / 1000) + 8 * 3600
    return { access_token: `a${serial}`, refresh_token: `r${serial}`, token_type: 'Bearer', expires_at, auth_url: url }
  }
  const self: SmallService = {
    url,
    successors,
    answers: 'sent',
    signIn: issue,
    release() {
      for (const answer of held) answer()
      held = []
    },
    async [Symbol.asyncDispose]() {
      self.release()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return self
}

function send(response: ServerResponse, tokens: TokenSet | undefined): void {
  response.writeHead(tokens === undefined ? 400 : 200, { connection: 'close' }).end(JSON.stringify(tokens ?? {}))
}

/** What a manager refreshes with. */
export function issuerOf(service: SmallService): TokenIssuer {
  return {
    authUrl: service.url,
    async refresh({ refresh_token }, { beforeSend } = {}) {
      beforeSend?.()
      const outgoing = request(`${service.url}/${refresh_token}`, { method: 'POST' }).end()
      const [incoming] = await once(outgoing, 'response')
      let text = ''
      for await (const chunk of incoming) text += String(chunk)
      if (incoming.statusCode !== 200) throw new ReauthenticationRequiredError('refresh_token_rejected')
      return JSON.parse(text)
    },
  }
}
