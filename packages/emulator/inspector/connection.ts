/**
 * The page's line to the emulator: server-sent events into signals, and the changes that the switches ask for.
 */
import { signal, type ReadonlySignal } from '@preact/signals'
import type { ControlState } from '../src/control/state.ts'
import type { ExchangeLine } from '../src/inspector/exchange-view.ts'
import { call, Refusal } from './api.ts'
import type { Logins } from './logins.ts'

/** Asks for a change of the control API; every answer is the state that it led to. */
export type Change = (method: string, path: string, body?: unknown) => void

export interface Connection {
  /** False while the browser tries to connect again. */
  readonly live: ReadonlySignal<boolean>
  /** Comes once a second, and with every change; undefined until the first. */
  readonly state: ReadonlySignal<ControlState | undefined>
  /** Why the latest change was refused, or an empty string. */
  readonly problem: ReadonlySignal<string>
  readonly change: Change
}

/** What every group of switches is given. */
export interface SwitchesProps {
  readonly state: ControlState
  readonly change: Change
}

export function connect(logins: Logins): Connection {
  const live = signal(false)
  const state = signal<ControlState | undefined>(undefined)
  const problem = signal('')
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

  async function ask(method: string, path: string, body: unknown): Promise<void> {
    try {
      state.value = await call<ControlState>(method, path, body)
      problem.value = ''
    } catch (error) {
      problem.value = error instanceof Refusal ? error.message : 'The emulator can’t be reached'
    }
  }
  return { live, state, problem, change: (method, path, body = {}) => void ask(method, path, body) }
}
