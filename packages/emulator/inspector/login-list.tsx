/**
 * The list of logins, the youngest first: a list box that holds no more rows than can be seen.
 */
import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { LoginRow } from './login-row.tsx'
import { nameOf, type Login, type Logins } from './logins.ts'
import { counted } from './words.ts'

/** Pixels; the style sheet agrees. */
const rowHeight = 66
/** Rows above and below those in sight. */
const spareRows = 4

interface LoginListProps {
  readonly logins: Logins
  readonly selected: ReadonlySignal<number | undefined>
  readonly following: ReadonlySignal<boolean>
  readonly onPick: (number: number) => void
  readonly onFollow: (on: boolean) => void
}

export function LoginList({ logins, selected, following, onPick, onFollow }: LoginListProps): VNode {
  const wanted = useSignal('')
  const scrolled = useSignal(0)
  const height = useSignal(800)
  const box = useRef<HTMLDivElement>(null)
  const rows = useComputed(() => {
    void logins.revision.value
    const needle = wanted.value.trim().toLowerCase()
    return logins.all().filter((login) => needle === '' || isAbout(login, needle))
  })
  const active = rows.value.findIndex(({ number }) => number === selected.value)

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return undefined
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [height])

  const move = (to: number): void => {
    const index = Math.min(Math.max(to, 0), rows.value.length - 1)
    const login = rows.value[index]
    const element = box.current
    if (!login || !element) return
    onPick(login.number)
    if (index * rowHeight < element.scrollTop) element.scrollTop = index * rowHeight
    else if ((index + 1) * rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = (index + 1) * rowHeight - element.clientHeight
    }
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const pageful = Math.max(1, Math.floor(height.value / rowHeight) - 1)
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      Home: 0,
      End: rows.value.length - 1,
      PageDown: active + pageful,
      PageUp: active - pageful,
    }
    const target = steps[event.key]
    if (target === undefined) return
    event.preventDefault()
    move(target)
  }

  const first = Math.max(0, Math.floor(scrolled.value / rowHeight) - spareRows)
  const shown = rows.value.slice(first, first + Math.ceil(height.value / rowHeight) + 2 * spareRows)
  return (
    <nav class="logins" aria-label="Logins">
      <div class="logins-head">
        <h2 id="logins-title">{counted(rows.value.length, 'login')}</h2>
        <label class="switch">
          <input
            type="checkbox"
            checked={following.value}
            onChange={({ currentTarget }) => onFollow(currentTarget.checked)}
          />
          Follow the newest
        </label>
        <input
          type="search"
          class="search"
          placeholder="Find an account, a decision …"
          aria-label="Find logins"
          value={wanted.value}
          onInput={({ currentTarget }) => {
            wanted.value = currentTarget.value
          }}
        />
      </div>
      <div
        class="login-rows"
        {...(rows.value.length > 0 && { role: 'listbox', tabIndex: 0, 'aria-labelledby': 'logins-title' })}
        aria-activedescendant={active >= first && active < first + shown.length ? `login-${selected.value}` : undefined}
        ref={box}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget }) => {
          scrolled.value = currentTarget.scrollTop
        }}
      >
        <div class="login-space" role="presentation" style={{ height: `${rows.value.length * rowHeight}px` }}>
          {shown.map((login, index) => (
            <LoginRow
              key={login.number}
              login={login}
              top={(first + index) * rowHeight}
              position={first + index + 1}
              total={rows.value.length}
              selected={login.number === selected.value}
              onPick={onPick}
            />
          ))}
        </div>
        {rows.value.length === 0 && <p class="empty">{wanted.value === '' ? 'No request yet.' : 'Nothing found.'}</p>}
      </div>
    </nav>
  )
}

function isAbout(login: Login, needle: string): boolean {
  if (nameOf(login).toLowerCase().includes(needle)) return true
  for (const { decision, fault, path } of login.exchanges.values()) {
    if (`${decision ?? ''} ${fault ?? ''} ${path}`.toLowerCase().includes(needle)) return true
  }
  return false
}
