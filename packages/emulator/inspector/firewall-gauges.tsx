/**
 * The firewall's windows as gauges: how many requests of how many, and who is blocked for how long.
 */
import type { VNode } from 'preact'
import type { ControlState } from '../src/control/state.ts'
import { duration } from './words.ts'

export function FirewallGauges({ state: { firewall, options, clock } }: { readonly state: ControlState }): VNode {
  const { blockedUntil, clients } = firewall
  const isOff = options['firewall']?.value === false
  return (
    <>
      {blockedUntil !== null && (
        <p class="chip firewall">Everybody is blocked for {duration(blockedUntil - clock.now)}</p>
      )}
      {isOff && <p class="soft">Switched off: it challenges nobody.</p>}
      {!isOff && clients.length === 0 && <p class="soft">No client came lately.</p>}
      {clients.slice(-maxShown).map((client) => (
        <Gauge
          key={`${client.address} ${client.userAgent} ${client.tlsVersion ?? ''}`}
          client={client}
          now={clock.now}
        />
      ))}
    </>
  )
}

const maxShown = 12

interface GaugeProps {
  readonly client: ControlState['firewall']['clients'][number]
  readonly now: number
}

function Gauge({ client, now }: GaugeProps): VNode {
  const { userAgent, address, requests, maxRequests: max, windowEndsAt, blockedUntil } = client
  const name = userAgent === '' ? 'no User-Agent' : userAgent
  const filled = max === null ? 0 : Math.min(1, requests / max)
  const blocked = blockedUntil !== null
  return (
    <div class={blocked ? 'gauge blocked' : 'gauge'}>
      <p class="cut" title={`${name} at ${address}`}>
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
          windowEndsAt !== null && <span class="soft">window ends in {duration(windowEndsAt - now)}</span>
        )}
      </p>
    </div>
  )
}
