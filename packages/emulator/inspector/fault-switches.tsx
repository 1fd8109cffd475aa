/**
 * Faults: for the next request to an endpoint, or for all of them until they are taken back.
 */
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { FaultState } from '../src/control/state.ts'
import type { SwitchesProps } from './connection.ts'
import { Button, Select } from './controls.tsx'

/** What is worth a click; the field beside it takes any other fault. */
const kinds: readonly (readonly [words: string, fault: object])[] = [
  ['The answer is lost', { drop: 'after-commit' }],
  ['Cut before anything happens', { drop: 'before-commit' }],
  ['Cut in the middle of the body', { drop: 'mid-body' }],
  ['Five seconds late', { delay: 5000 }],
  ['Service unavailable', { status: 503 }],
  ['Firewall page', { firewall: true }],
  ['Firewall page, script alone', { firewall: 'script' }],
  ['Body cut to 60 bytes', { bodyLength: 60 }],
  ['Body of 20 MB', { bodyLength: 20_000_000 }],
  ['A body that never ends', { endless: true }],
]

export function FaultSwitches({ state: { faults }, change }: SwitchesProps): VNode {
  const endpoint = useSignal(Object.keys(faults)[0] ?? '')
  const text = useSignal(JSON.stringify(kinds[0]?.[1]))
  const problem = useSignal('')
  const order = (method: 'POST' | 'PUT'): void => {
    problem.value = ''
    try {
      change(method, `faults/${endpoint.value}`, JSON.parse(text.value))
    } catch {
      problem.value = 'The fault is not JSON'
    }
  }
  const ordered = Object.entries(faults).filter(([, { always, once }]) => always !== null || once.length > 0)
  return (
    <section aria-labelledby="faults-title">
      <h3 id="faults-title">Fault</h3>
      <div class="line wide">
        <Select
          label="Endpoint"
          value={endpoint.value}
          choices={Object.keys(faults).map((name) => [name, name] as const)}
          onPick={(name) => {
            endpoint.value = name
          }}
        />
        <Select
          label="Kind of fault"
          choices={kinds}
          onPick={(fault) => {
            text.value = JSON.stringify(fault)
          }}
        />
      </div>
      <input
        class="mono wide"
        aria-label="Fault as JSON"
        spellcheck={false}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
        }}
      />
      {problem.value !== '' && <p role="alert">{problem.value}</p>}
      <div class="line">
        <Button onClick={() => order('POST')}>Next request</Button>
        <Button onClick={() => order('PUT')}>Every request</Button>
      </div>
      <ul class="orders">
        {ordered.map(([name, fault]) => (
          <li key={name}>
            <span>
              <b>{name}</b> <span class="soft mono">{wordsOf(fault)}</span>
            </span>
            <Button label={`Clear the faults of ${name}`} onClick={() => change('DELETE', `faults/${name}`)}>
              Clear
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function wordsOf({ always, once }: FaultState): string {
  const next = once.map((fault) => `next ${JSON.stringify(fault)}`)
  return [...next, ...(always === null ? [] : [`every ${JSON.stringify(always)}`])].join(', ')
}
