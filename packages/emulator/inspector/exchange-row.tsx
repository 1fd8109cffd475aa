/**
 * One request of the diagram: an arrow there, an arrow back, what was decided; open, all that was said.
 */
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { ExchangeLine } from '../src/inspector/inspector-router.ts'
import { ExchangeSheet } from './exchange-sheet.tsx'
import { elapsed, placeNames } from './words.ts'

interface ExchangeRowProps {
  readonly line: ExchangeLine
  /** Of whom was asked; the client's is 0. */
  readonly lane: number
  /** Milliseconds since the login began. */
  readonly after: number
}

export function ExchangeRow({ line, lane, after }: ExchangeRowProps): VNode {
  const open = useSignal(false)
  const { id, method, path, place, decision, fault, challenged } = line
  return (
    <li class={`exchange ${strikeOf(line)}`} style={{ '--lane': lane, '--tone': `var(--${toneOf(line)})` }}>
      <button
        type="button"
        aria-expanded={open.value}
        aria-controls={`exchange-${id}`}
        onClick={() => (open.value = !open.value)}
      >
        <span class="after soft">+{elapsed(after)}</span>
        <span class="said">
          <b>{method}</b> <span class="path">{path}</span>
          <span class="unseen"> to the {placeNames[place]}: </span>
        </span>
        <span class="arrow there" />
        {line.duration !== undefined && <span class="arrow back" />}
        <span class="said">
          <span class="status">{statusWords(line)}</span>{' '}
          {line.duration !== undefined && <span class="soft">{elapsed(line.duration)} </span>}
          {fault !== undefined && <span class="chip fault">Fault: {fault}</span>}{' '}
          {challenged && <span class="chip firewall">Firewall</span>} {decision}
        </span>
      </button>
      {open.value && <ExchangeSheet id={id} answered={line.duration !== undefined} />}
    </li>
  )
}

/** A colour of the style sheet; the chips and the status say the same in words. */
function toneOf({ status, fault, challenged, refused }: ExchangeLine): string {
  if (challenged) return 'firewall'
  if (status === 0 || fault !== undefined) return 'fault'
  if (status === undefined) return 'soft'
  if (refused || status >= 400) return 'refused'
  return status < 300 ? 'good' : 'onward'
}

function strikeOf({ status, fault, challenged }: ExchangeLine): string {
  if (status === 0 && !challenged) return 'struck cut-off'
  return challenged || fault !== undefined ? 'struck' : ''
}

function statusWords({ status }: ExchangeLine): string {
  if (status === undefined) return 'waits …'
  return status === 0 ? '✕ connection cut' : String(status)
}
