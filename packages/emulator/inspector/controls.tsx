/**
 * The page's button, and the keys that move between buttons.
 */
import type { ComponentChildren, VNode } from 'preact'

interface ButtonProps {
  readonly children: ComponentChildren
  readonly onClick: () => void
}

export function Button({ children, onClick }: ButtonProps): VNode {
  return (
    <button type="button" class="button" onClick={onClick}>
      {children}
    </button>
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
