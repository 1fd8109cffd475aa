/**
 * Scenarios, clock and firewall: what takes one click.
 */
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { SwitchesProps } from './connection.ts'
import { Button, Select, Switch } from './controls.tsx'
import { duration } from './words.ts'

export function Scenarios({ state: { scenarios }, change }: SwitchesProps): VNode {
  const chosen = useSignal(scenarios[0]?.name ?? '')
  const about = scenarios.find(({ name }) => name === chosen.value)?.about
  const applied = scenarios.filter((scenario) => scenario.applied).map(({ name }) => name)
  return (
    <section aria-labelledby="scenarios-title">
      <h3 id="scenarios-title">Scenario</h3>
      <div class="line">
        <Select
          label="Scenario"
          about="scenario-about"
          value={chosen.value}
          choices={scenarios.map(({ name }) => [name, name] as const)}
          onPick={(name) => {
            chosen.value = name
          }}
        />
        <Button onClick={() => change('POST', `scenarios/${chosen.value}`)}>Play</Button>
        <Button onClick={() => change('POST', 'reset')}>Reset all</Button>
      </div>
      <p class="soft" id="scenario-about">
        {about}
      </p>
      {applied.length > 0 && <p>Applied: {applied.join(', ')}</p>}
    </section>
  )
}

const steps: readonly (readonly [words: string, seconds: number])[] = [
  ['+30 s', 30],
  ['+5 min', 300],
  ['+1 h', 3600],
  ['+8 h', 28_800],
]

export function ClockSwitches({ state: { clock }, change }: SwitchesProps): VNode {
  const ahead = Math.round(clock.offset)
  return (
    <section aria-labelledby="clock-title">
      <h3 id="clock-title">Clock</h3>
      <div class="line">
        {steps.map(([words, seconds]) => (
          <Button key={words} onClick={() => change('POST', 'clock', { advance: seconds })}>
            {words}
          </Button>
        ))}
      </div>
      <div class="line">
        <Switch checked={clock.frozen} onChange={(frozen) => change('POST', 'clock', { frozen })}>
          Frozen
        </Switch>
        <Button onClick={() => change('POST', 'clock', { reset: true })}>Machine’s time</Button>
      </div>
      <p class="soft">
        {ahead === 0 ? 'As the machine’s own.' : `${duration(Math.abs(ahead))} ${ahead > 0 ? 'ahead' : 'behind'}.`}
      </p>
    </section>
  )
}

export function FirewallSwitches({ state: { firewall }, change }: SwitchesProps): VNode {
  return (
    <section aria-labelledby="wall-title">
      <h3 id="wall-title">Firewall now</h3>
      <div class="line">
        <Button onClick={() => change('POST', 'firewall', { block: true })}>Block everybody</Button>
        <Button onClick={() => change('POST', 'firewall', { lift: true })}>Lift every block</Button>
        {firewall.blockedUntil !== null && <span class="chip firewall">blocking</span>}
      </div>
    </section>
  )
}
