/**
 * Scenarios, clock and firewall: what takes one click.
 */
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { SwitchesProps } from './switches-props.ts'
import { duration } from './words.ts'

export function Scenarios({ state: { scenarios }, change }: SwitchesProps): VNode {
  const chosen = useSignal(scenarios[0]?.name ?? '')
  const about = scenarios.find(({ name }) => name === chosen.value)?.about
  const applied = scenarios.filter((scenario) => scenario.applied).map(({ name }) => name)
  return (
    <section aria-labelledby="scenarios-title">
      <h3 id="scenarios-title">Scenario</h3>
      <div class="line">
        <select
          aria-label="Scenario"
          aria-describedby="scenario-about"
          value={chosen.value}
          onChange={({ currentTarget }) => {
            chosen.value = currentTarget.value
          }}
        >
          {scenarios.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <button type="button" class="button" onClick={() => void change('POST', `scenarios/${chosen.value}`)}>
          Play
        </button>
        <button type="button" class="button" title="As at the start" onClick={() => void change('POST', 'reset')}>
          Reset all
        </button>
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
          <button
            key={words}
            type="button"
            class="button"
            onClick={() => void change('POST', 'clock', { advance: seconds })}
          >
            {words}
          </button>
        ))}
      </div>
      <div class="line">
        <label class="switch">
          <input
            type="checkbox"
            role="switch"
            checked={clock.frozen}
            onChange={({ currentTarget }) => void change('POST', 'clock', { frozen: currentTarget.checked })}
          />
          Frozen
        </label>
        <button type="button" class="button" onClick={() => void change('POST', 'clock', { reset: true })}>
          Machine’s time
        </button>
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
        <button type="button" class="button" onClick={() => void change('POST', 'firewall', { block: true })}>
          Block everybody
        </button>
        <button type="button" class="button" onClick={() => void change('POST', 'firewall', { lift: true })}>
          Lift every block
        </button>
        {firewall.blockedUntil !== null && <span class="chip firewall">blocking</span>}
      </div>
    </section>
  )
}
