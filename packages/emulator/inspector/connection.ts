/**
 * The page's line to the emulator: server-sent events into signals.
 */
import { signal, type ReadonlySignal } from '@preact/signals'
import type { ControlState } from '../src/control/state.ts'
import type { ExchangeLine } from '../src/inspector/exchange-view.ts'
import type { Logins } from './logins.ts'

export interface Connection {
  /** False while the browser tries to connect again. */
  readonly live: ReadonlySignal<boolean>
  /** Comes once a second; undefined until the first. */
  readonly state: ReadonlySignal<ControlState | undefined>
}

export function connect(logins: Logins): Connection {
  const live = signal(false)
  const state = signal<ControlState | undefined>(undefined)
  const events = new EventSource('/_emulator/events')
  events.addEventListener('open', () => {
    live.value = true
  })
  events.addEventListener('error', () => {
    live.value = false
  })
  events.addEventListener('reset', () => logins.clear())
  events.addEventListener('exchange', ({ data }: MessageEvent<string>) => {
    const batch: ExchangeLine[] = JSON.parse(data)
    logins.apply(batch)
  })
  events.addEventListener('state', ({ data }: MessageEvent<string>) => {
    state.value = JSON.parse(data)
  })
  return { live, state }
}
