/**
 * The accounts' switches: locked, captcha, region.
 */
import type { VNode } from 'preact'
import type { AccountState } from '../src/control/state.ts'
import type { SwitchesProps } from './switches-props.ts'

const captchas: readonly (readonly [words: string, value: AccountState['captcha']])[] = [
  ['no captcha', false],
  ['captcha', true],
  ['captcha after submission', 'after-submission'],
]

export function AccountSwitches({ state: { accounts }, change }: SwitchesProps): VNode {
  return (
    <section aria-labelledby="account-switches-title">
      <h3 id="account-switches-title">Accounts</h3>
      {accounts.map(({ identity, locked, captcha, region }) => {
        const set = (switches: Partial<AccountState>): void =>
          void change('PATCH', `accounts/${encodeURIComponent(identity)}`, switches)
        return (
          <fieldset key={identity}>
            <legend>{identity}</legend>
            <label class="switch">
              <input
                type="checkbox"
                role="switch"
                checked={locked}
                onChange={({ currentTarget }) => set({ locked: currentTarget.checked })}
              />
              Locked
            </label>
            <select
              aria-label={`Captcha of ${identity}`}
              value={String(captcha)}
              onChange={({ currentTarget }) => {
                const value = captchas[currentTarget.selectedIndex]?.[1]
                if (value !== undefined) set({ captcha: value })
              }}
            >
              {captchas.map(([words, value]) => (
                <option key={words} value={String(value)}>
                  {words}
                </option>
              ))}
            </select>
            <select
              aria-label={`Region of ${identity}`}
              value={region}
              onChange={({ currentTarget }) => set({ region: currentTarget.value === 'home' ? 'home' : 'regional' })}
            >
              <option value="home">home</option>
              <option value="regional">other region</option>
            </select>
          </fieldset>
        )
      })}
    </section>
  )
}
