/**
 * The page's head: whose inspector it is, whether it is live, and the emulator's clock.
 */
import type { VNode } from 'preact'
import type { Connection } from './connection.ts'
import type { Logins } from './logins.ts'
import { counted, moment } from './words.ts'

export function Header({
  connection: { live, state },
  logins,
}: {
  readonly connection: Connection
  readonly logins: Logins
}): VNode {
  void logins.revision.value
  const clock = state.value?.clock
  return (
    <header class="head">
      <h1>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M3 5.5h9.5m-3-2.5 3 2.5-3 2.5M13 11.5H3.5m3-2.5-3 2.5 3 2.5" />
        </svg>
        SSO emulator <span class="soft">inspector</span>
      </h1>
      <p class="soft">{counted(logins.size, 'request')}</p>
      {clock && (
        <p class="clock" title="The emulator’s clock">
          <span class="soft">Clock</span>{' '}
          <time class="mono" dateTime={new Date(clock.now * 1000).toISOString()}>
            {moment(clock.now)}
          </time>
          {clock.frozen && <span class="chip warn">frozen</span>}
        </p>
      )}
      <p class={live.value ? 'live on' : 'live'} role="status">
        {live.value ? 'Live' : 'Not connected: trying again'}
      </p>
    </header>
  )
}
