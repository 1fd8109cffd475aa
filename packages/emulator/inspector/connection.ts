/**
 * The page's line to the emulator: server-sent events into signals.
 */
import { signal, type ReadonlySignal } from '@preact/signals'
import type { ExchangeLine } from '../src/inspector/exchange-view.ts'
import type { LiveState } from '../src/inspector/live-state.ts'
import type { Logins } from './logins.ts'

export interface Connection {
  /** False while the browser tries to connect again. */
  readonly live: ReadonlySignal<boolean>
  /** Undefined until the first second. */
  readonly state: ReadonlySignal<LiveState | undefined>
}

export function connect(logins: Logins): Connection {
  const live = signal(false)
  const state = signal<LiveState | undefined>(undefined)
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
