/**
 * A tunnel through the outbound proxy for one look, and what is wrong with the proxy where there is none.
 */
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { systemCode } from '@owner-sso/core'
import { exitCodes } from '../failure/command-error.ts'
import type { Given } from '../settings/settings.ts'
import { type Finding, problem } from '../terminal/finding.ts'

/** There is no tunnel. */
export class TunnelError extends Error {
  readonly finding: Finding
  constructor(text: string, fix: string) {
    super(text)
    this.finding = problem('outbound proxy', text, fix, exitCodes.network)
  }
}

/** @throws TunnelError */
export function openTunnel(
  { value, from }: Given<string>,
  { hostname, port }: URL,
  signal: AbortSignal,
): Promise<Socket> {
  const proxy = new URL(value)
  const named = `The outbound proxy ${proxy.origin}`
  const to = `${hostname}:${port || 443}`
  const request = proxy.protocol === 'https:' ? requestHttps : requestHttp
  const [user, password] = [proxy.username, proxy.password].map(decodeURIComponent)
  const auth = proxy.username + proxy.password === '' ? undefined : `${user}:${password}`
  const headers = {
    host: to,
    ...(auth !== undefined && { 'proxy-authorization': `Basic ${Buffer.from(auth).toString('base64')}` }),
  }
  const host = proxy.hostname.replaceAll(/[[\]]/gu, '')
  // Else the proxy's certificate would have to be for the name in the header.
  const servername = isIP(host) === 0 ? host : ''
  const options = { method: 'CONNECT', path: to, headers, agent: false, signal, servername } as const
  return new Promise((resolve, reject) => {
    request({ ...options, host, port: proxy.port })
      .on('connect', ({ statusCode = 0 }, socket: Socket) => {
        // RFC 9110, section 9.3.6.
        if (statusCode >= 200 && statusCode < 300) return resolve(socket)
        socket.destroy()
        reject(refused(statusCode))
      })
      .on('error', (error) => {
        const code = error.name === 'AbortError' ? 'ETIMEDOUT' : (systemCode(error) ?? 'no answer')
        reject(new TunnelError(`${named} can’t be reached (${code}).`, `Start it, or correct its address in ${from}.`))
      })
      .end()
  })

  function refused(status: number): TunnelError {
    if (status === 407) {
      const text = auth === undefined ? 'asks for a user name and a password' : 'does not accept this user and password'
      const fix = `Set OWNER_SSO_PROXY=${proxy.protocol}//USER:PASSWORD@${proxy.host}, both percent-encoded.`
      return new TunnelError(`${named} ${text} (407).`, fix)
    }
    if (status >= 500) {
      const fix = 'Check that address, and whether the proxy has a way to it.'
      return new TunnelError(`${named} can’t reach ${to} (${status}).`, fix)
    }
    return new TunnelError(
      `${named} refuses a tunnel to ${to} (${status}).`,
      'Ask whoever runs it to allow CONNECT there.',
    )
  }
}
