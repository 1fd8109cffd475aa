/**
 * The proxy's connections to the owner API: kept alive, HTTP/1.1, never more than calls under way.
 */
import { buildConnector, Pool } from 'undici'
import { reading } from '../early-answer.ts'
import { throughProxy } from '../tunnel.ts'
import type { ProxySettings } from './options.ts'

/**
 * Milliseconds that undici's own limits are later than the call's, which read first what has arrived: they are left
 * with an upload that the owner API does not take.
 */
const later = 1000

/** A pool for one target. */
export function upstreamPool(settings: Omit<ProxySettings, 'accountOf' | 'authorize' | 'onProblem'>): Pool {
  const { target, maxConcurrent, headersTimeout, bodyTimeout, proxy } = settings
  const connect = {
    timeout: settings.connectTimeout,
    ...settings.transport.tls,
    // Set here because NODE_TLS_REJECT_UNAUTHORIZED could turn it off.
    rejectUnauthorized: true,
  }
  return new Pool(target.origin, {
    connections: maxConcurrent,
    headersTimeout: headersTimeout + later,
    bodyTimeout: bodyTimeout + later,
    allowH2: false,
    // Plain http is for this machine alone.
    connect: reading(
      proxy !== undefined && target.protocol === 'https:' ? throughProxy(proxy, connect) : buildConnector(connect),
    ),
  })
}
