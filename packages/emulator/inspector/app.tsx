/**
 * The whole page: logins on the left, the one that is looked at in the middle, the emulator of this moment on the right.
 */
import { useSignal, useComputed } from '@preact/signals'
import { render, type VNode } from 'preact'
import { connect, type Connection } from './connection.ts'
import { Header } from './header.tsx'
import { LivePanel } from './live-panel.tsx'
import { LoginList } from './login-list.tsx'
import { createLogins, type Logins } from './logins.ts'
import { LoginView } from './login-view.tsx'

function App({ logins, connection }: { readonly logins: Logins; readonly connection: Connection }): VNode {
  const following = useSignal(true)
  const picked = useSignal<number | undefined>(undefined)
  const selected = useComputed(() => {
    void logins.revision.value
    const known = picked.value === undefined ? undefined : logins.of(picked.value)
    return following.value || !known ? logins.all()[0]?.number : known.number
  })
  const pick = (number: number): void => {
    picked.value = number
    following.value = false
  }
  const follow = (on: boolean): void => {
    picked.value = selected.value
    following.value = on
  }
  return (
    <>
      <a class="skip" href="#login">
        Skip to the login
      </a>
      <Header connection={connection} logins={logins} />
      <div class="columns">
        <LoginList logins={logins} selected={selected} onPick={pick} following={following} onFollow={follow} />
        <LoginView logins={logins} selected={selected} />
        <LivePanel connection={connection} />
      </div>
    </>
  )
}

const allLogins = createLogins()
const root = document.querySelector('#inspector')
if (root) render(<App logins={allLogins} connection={connect(allLogins)} />, root)
