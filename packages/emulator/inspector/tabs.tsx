/**
 * Tabs: arrow keys move between them, only the chosen one is a stop of the Tab key.
 */
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { moveFocus } from './controls.tsx'

interface TabsProps {
  readonly label: string
  readonly tabs: Readonly<Record<string, VNode>>
}

export function Tabs({ label, tabs }: TabsProps): VNode {
  const chosen = useSignal(Object.keys(tabs)[0])
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={moveFocus('button')}>
        {Object.keys(tabs).map((name) => {
          const choose = (): void => {
            chosen.value = name
          }
          const isChosen = name === chosen.value
          return (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-controls={`panel-${name}`}
              aria-selected={isChosen}
              tabIndex={isChosen ? 0 : -1}
              onClick={choose}
              onFocus={choose}
            >
              {name}
            </button>
          )
        })}
      </div>
      {Object.entries(tabs).map(([name, content]) => (
        <div
          key={name}
          class="tabpanel"
          role="tabpanel"
          id={`panel-${name}`}
          aria-labelledby={`tab-${name}`}
          hidden={name !== chosen.value}
        >
          {name === chosen.value && content}
        </div>
      ))}
    </>
  )
}
