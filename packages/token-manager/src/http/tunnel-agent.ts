/** An agent for https through an outbound proxy. */
import { Agent, type AgentOptions } from 'node:https'
import { brokenConnection } from './answer-bounds.ts'
import { openTunnel, type TunnelFailure } from './tunnel.ts'

export interface TunnelAgentOptions extends AgentOptions {
  readonly proxy: string
}

export class TunnelAgent extends Agent {
  readonly #proxy: string
  /** Ends the tunnels that are not there yet. */
  readonly #ending = new AbortController()

  constructor({ proxy, ...options }: TunnelAgentOptions) {
    super(options)
    this.#proxy = proxy
  }

  override createConnection(...[options, callback]: Parameters<Agent['createConnection']>): undefined {
    const { host, port } = options
    const { signal } = this.#ending
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- with an error, nobody looks at the socket
    const fail = (error: Error): void => callback?.(error, undefined as never)
    openTunnel({ proxy: this.#proxy, host: host ?? 'localhost', port: port ?? 443, signal }).then((tunnel) => {
      if (tunnel.outcome !== 'open') return fail(tunnelError(tunnel))
      const inTunnel = { ...options, socket: tunnel.socket }
      return callback?.(null, super.createConnection(inTunnel)!)
    }, fail)
    return undefined
  }

  override destroy(): void {
    this.#ending.abort()
    super.destroy()
  }
}

function tunnelError(failure: TunnelFailure): Error {
  if (failure.outcome === 'no-http') return noTunnel('SPEAKS_NO_HTTP')
  if (failure.outcome === 'rejected') {
    const { status, hasLogin } = failure
    return noTunnel(status === 407 && !hasLogin ? 'WANTS_PASSWORD' : String(status))
  }
  // Whatever its kind: it is about the proxy, which `syscall` tells.
  return Object.assign(failure.outcome === 'unreachable' ? failure.error : brokenConnection(), { syscall: 'connect' })
}

/** With a code that `http-failure.ts` has the words for. */
const noTunnel = (answer: string): Error => Object.assign(new Error('no tunnel'), { code: `PROXY_${answer}` })
