/**
 * The page's buttons, switches and choices: each shows what the emulator says, and asks for a change.
 */
import type { ComponentChildren, VNode } from 'preact'

interface ButtonProps {
  readonly children: ComponentChildren
  readonly onClick: () => void
  /** What it is called where its words do not tell. */
  readonly label?: string
}

export function Button({ children, onClick, label }: ButtonProps): VNode {
  return (
    <button type="button" class="button" aria-label={label} onClick={onClick}>
      {children}
    </button>
  )
}

interface SwitchProps {
  readonly children: string
  readonly checked: boolean
  readonly onChange: (on: boolean) => void
}

export function Switch({ children, checked, onChange }: SwitchProps): VNode {
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {children}
    </label>
  )
}

interface SelectProps<Value> {
  readonly label?: string
  readonly id?: string
  /** Id of the sentence that explains it. */
  readonly about?: string
  readonly value?: Value
  readonly choices: readonly (readonly [words: string, value: Value])[]
  readonly onPick: (value: Value) => void
}

export function Select<Value>({ label, id, about, value, choices, onPick }: SelectProps<Value>): VNode {
  return (
    <select
      id={id}
      aria-label={label}
      aria-describedby={about}
      value={value === undefined ? undefined : String(choices.findIndex(([, each]) => each === value))}
      onChange={({ currentTarget }) => {
        const choice = choices[currentTarget.selectedIndex]
        if (choice) onPick(choice[1])
      }}
    >
      {choices.map(([words], index) => (
        <option key={words} value={String(index)}>
          {words}
        </option>
      ))}
    </select>
  )
}

/** Arrow keys, Home and End move the focus among the buttons that `selector` finds in a list. */
export function moveFocus(selector: string): (event: KeyboardEvent & { readonly currentTarget: Element }) => void {
  return (event) => {
    const buttons = [...event.currentTarget.querySelectorAll<HTMLButtonElement>(selector)]
    const at = buttons.findIndex((button) => button === document.activeElement)
    const [previous, next] = [Math.max(at - 1, 0), Math.min(at + 1, buttons.length - 1)]
    const keys = { ArrowDown: next, ArrowRight: next, ArrowUp: previous, ArrowLeft: previous }
    const target = { ...keys, Home: 0, End: buttons.length - 1 }[event.key]
    if (at === -1 || target === undefined) return
    event.preventDefault()
    buttons[target]?.focus()
  }
}
