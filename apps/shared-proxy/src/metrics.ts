/**
 * What Prometheus is told: counts and times, and no name of an account in any of them.
 */
import type { ServerResponse } from 'node:http'
import type { TokenManager, TokenManagerEvents } from '@owner-sso/core'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Readiness } from './readiness.ts'

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

/** The events of a token manager; the keys make sure that none is missing. */
const events: Readonly<Record<keyof TokenManagerEvents, true>> = {
  refreshed: true,
  'refresh-failed': true,
  'in-doubt': true,
  unsaved: true,
  superseded: true,
  'reauthentication-required': true,
  blocked: true,
}

export function createMetrics({ tokens, active, readiness }: MetricsOptions): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const refreshes = new Counter({
    name: 'owner_sso_refresh_events_total',
    help: 'What became of token refreshes of this instance, by the token manager’s event.',
    labelNames: ['event'],
    registers,
  })
  for (const event of Object.keys(events) as (keyof TokenManagerEvents)[]) {
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
  new Gauge({
    name: 'owner_sso_calls_active',
    help: 'Calls to the owner API under way.',
    registers,
    collect() {
      this.set(active())
    },
  })

  const redis = new Gauge({ name: 'owner_sso_redis_up', help: '1 while Redis answers, else 0.', registers })
  new Gauge({
    name: 'owner_sso_firewall_blocked',
    help: '1 while the firewall of the SSO service blocks all instances (the breaker is open), else 0.',
    registers,
    async collect() {
      const state = await readiness()
      redis.set(state.redis === 'up' ? 1 : 0)
      this.set(state.firewall === 'blocked' ? 1 : 0)
    },
  })

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
