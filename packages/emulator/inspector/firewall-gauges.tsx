/**
 * The firewall's windows as gauges: how many requests of how many, and who is blocked for how long.
 */
import type { VNode } from 'preact'
import type { LiveState } from '../src/inspector/live-state.ts'
import { duration } from './words.ts'

interface FirewallGaugesProps {
  readonly firewall: LiveState['firewall']
  readonly now: number
}

export function FirewallGauges({ firewall: { rules, blockedUntil, clients }, now }: FirewallGaugesProps): VNode {
  return (
    <>
      {blockedUntil !== undefined && (
        <p class="chip firewall">Everybody is blocked for {duration(blockedUntil - now)}</p>
      )}
      {rules === false && <p class="soft">Switched off: it challenges nobody.</p>}
      {rules !== false && clients.length === 0 && <p class="soft">No client in the last {rules.windowSeconds} s.</p>}
      {clients.map((client) => (
        <Gauge
          key={`${client.address} ${client.userAgent} ${client.tlsVersion}`}
          client={client}
          max={rules === false ? null : rules.maxRequests}
          now={now}
        />
      ))}
    </>
  )
}

interface GaugeProps {
  readonly client: LiveState['firewall']['clients'][number]
  /** Null: any number. */
  readonly max: number | null
  readonly now: number
}

function Gauge({ client, max, now }: GaugeProps): VNode {
  const { userAgent, address, requests, windowEndsAt, blockedUntil } = client
  const name = userAgent === '' ? 'no User-Agent' : userAgent
  const filled = max === null ? 0 : Math.min(1, requests / max)
  const blocked = blockedUntil !== undefined
  return (
    <div class={blocked ? 'gauge blocked' : 'gauge'}>
      <p class="gauge-name" title={`${name} at ${address}`}>
        {name} <span class="soft">{address}</span>
      </p>
      <div
        class="gauge-bar"
        role="meter"
        aria-label={`Requests of ${name} in the window`}
        aria-valuemin={0}
        aria-valuemax={max ?? requests}
        aria-valuenow={Math.min(requests, max ?? requests)}
        style={{ '--filled': filled }}
      >
        <span />
      </div>
      <p class="gauge-words">
        <span>
          {requests} of {max ?? 'any number'}
        </span>
        {blocked ? (
          <b>blocked for {duration(blockedUntil - now)}</b>
        ) : (
          windowEndsAt !== undefined && <span class="soft">window ends in {duration(windowEndsAt - now)}</span>
        )}
      </p>
    </div>
  )
}
