/**
 * Tabs by the book: arrow keys move between them, only the chosen one is a stop of the Tab key.
 */
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'

interface Tab {
  readonly name: string
  readonly content: () => VNode
}

export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }): VNode {
  const chosen = useSignal(0)
  const list = useRef<HTMLDivElement>(null)
  const choose = (index: number): void => {
    chosen.value = (index + tabs.length) % tabs.length
    list.current?.querySelectorAll('button')[chosen.value]?.focus()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = { ArrowRight: chosen.value + 1, ArrowLeft: chosen.value - 1, Home: 0, End: tabs.length - 1 }[
      event.key
    ]
    if (target === undefined) return
    event.preventDefault()
    choose(target)
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-controls={`panel-${name}`}
            aria-selected={index === chosen.value}
            tabIndex={index === chosen.value ? 0 : -1}
            onClick={() => choose(index)}
          >
            {name}
          </button>
        ))}
      </div>
      {tabs.map(({ name, content }, index) => (
        <div
          key={name}
          class="tabpanel"
          role="tabpanel"
          id={`panel-${name}`}
          aria-labelledby={`tab-${name}`}
          hidden={index !== chosen.value}
        >
          {index === chosen.value && content()}
        </div>
      ))}
    </>
  )
}
