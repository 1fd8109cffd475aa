/**
 * What Prometheus is told: counts and times, and no name of an account in any of them.
 */
import type { ServerResponse } from 'node:http'
import type { TokenManager } from '@owner-sso/core'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Readiness } from './readiness.ts'
import { tokenEvents } from './log.ts'

export interface Metrics {
  readonly contentType: string
  /** The page of `/metrics`. */
  readonly text: () => Promise<string>
  /** Counts a proxied call and its time, once it has ended. */
  readonly observeCall: (response: ServerResponse) => void
}

export interface MetricsOptions {
  readonly tokens: Pick<TokenManager, 'on'>
  /** Calls under way. */
  readonly active: () => number
  readonly readiness: () => Promise<Readiness>
}

export function createMetrics({ tokens, active, readiness }: MetricsOptions): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const refreshes = new Counter({
    name: 'owner_sso_refresh_events_total',
    help: 'Token refreshes of this instance by outcome, the token manager’s event.',
    labelNames: ['event'],
    registers,
  })
  for (const event of tokenEvents) {
    refreshes.inc({ event }, 0)
    tokens.on(event, () => refreshes.inc({ event }))
  }

  const calls = new Histogram({
    name: 'owner_sso_call_duration_seconds',
    help: 'Calls to the owner API from their arrival to the end of the answer, by class of status; aborted: the caller hung up.',
    labelNames: ['status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  })
  const gauge = (name: string, help: string, value: () => number | Promise<number>): void => {
    const collect = async function (this: Gauge): Promise<void> {
      this.set(await value())
    }
    registry.registerMetric(new Gauge({ name, help, registers: [], collect }))
  }
  gauge('owner_sso_calls_active', 'Calls to the owner API under way.', active)
  gauge('owner_sso_store_up', '1 while the store answers, else 0.', async () =>
    Number((await readiness()).store === 'up'),
  )
  gauge(
    'owner_sso_firewall_blocked',
    '1 while the firewall of the SSO service blocks all instances (the breaker is open), else 0.',
    async () => Number((await readiness()).firewall === 'blocked'),
  )

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    observeCall(response) {
      const stop = calls.startTimer()
      response.once('close', () => stop({ status: statusClass(response) }))
    },
  }
}

function statusClass({ writableFinished, statusCode }: ServerResponse): string {
  return writableFinished ? `${Math.floor(statusCode / 100)}xx` : 'aborted'
}
