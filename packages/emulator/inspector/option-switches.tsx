/**
 * The options: those that can change while the emulator runs, each by what it takes; the others as they are.
 */
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { OptionState } from '../src/control/state.ts'
import type { SwitchesProps } from './connection.ts'
import { Select } from './controls.tsx'

export function OptionSwitches({ state: { options }, change }: SwitchesProps): VNode {
  const all = Object.entries(options)
  const changeable = all.filter(([, option]) => option.changeable)
  const fixed = all.filter(([, option]) => !option.changeable)
  return (
    <section aria-labelledby="options-title">
      <h3 id="options-title">Options</h3>
      {changeable.map(([name, option]) => (
        <OptionSwitch
          key={name}
          name={name}
          option={option}
          set={(value) => change('PATCH', 'options', { [name]: value })}
        />
      ))}
      <details>
        <summary>Settled at the start</summary>
        <dl class="fixed">
          {fixed.map(([name, { value }]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  )
}

interface OptionSwitchProps {
  readonly name: string
  readonly option: OptionState
  readonly set: (value: unknown) => void
}

function OptionSwitch({ name, option, set }: OptionSwitchProps): VNode {
  const { value, initial, about, choices } = option
  const changed = JSON.stringify(value) !== JSON.stringify(initial)
  return (
    <div class="option">
      <div class="option-head">
        <label for={`option-${name}`}>{name}</label>
        {changed && (
          <button type="button" class="reveal" aria-label={`Put ${name} back`} onClick={() => set(initial)}>
            Put back
          </button>
        )}
        {choices ? (
          <Choice name={name} value={value} choices={choices} set={set} />
        ) : (
          <JsonField name={name} option={option} set={set} />
        )}
      </div>
      <p class="soft" id={`about-${name}`}>
        {about}
      </p>
    </div>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly value: unknown
  readonly choices: readonly unknown[]
  readonly set: (value: unknown) => void
}

function Choice({ name, value, choices, set }: ChoiceProps): VNode {
  const [id, about] = [`option-${name}`, `about-${name}`]
  if (choices.some((choice) => typeof choice !== 'boolean')) {
    return (
      <Select
        id={id}
        about={about}
        value={value}
        choices={choices.map((choice) => [String(choice), choice])}
        onPick={set}
      />
    )
  }
  return (
    <input
      id={id}
      aria-describedby={about}
      type="checkbox"
      role="switch"
      checked={value === true}
      onChange={({ currentTarget }) => set(currentTarget.checked)}
    />
  )
}

/** Any other value, written as JSON. */
function JsonField({
  name,
  option: { value, expected },
  set,
}: Omit<OptionSwitchProps, 'option'> & { readonly option: OptionState }): VNode {
  const problem = useSignal('')
  const apply = (text: string): void => {
    problem.value = ''
    try {
      set(JSON.parse(text))
    } catch {
      problem.value = `Write it as JSON: ${expected}`
    }
  }
  return (
    <>
      <input
        key={JSON.stringify(value)}
        id={`option-${name}`}
        class="mono"
        aria-describedby={`about-${name}`}
        spellcheck={false}
        title={expected}
        defaultValue={JSON.stringify(value)}
        onChange={({ currentTarget }) => apply(currentTarget.value)}
      />
      {problem.value !== '' && <p role="alert">{problem.value}</p>}
    </>
  )
}
