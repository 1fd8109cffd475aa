/**
 * The accounts' switches: locked, captcha, region.
 */
import type { VNode } from 'preact'
import type { AccountState } from '../src/control/state.ts'
import type { SwitchesProps } from './connection.ts'
import { Select, Switch } from './controls.tsx'

const captchas: readonly (readonly [words: string, value: AccountState['captcha']])[] = [
  ['no captcha', false],
  ['captcha', true],
  ['captcha after submission', 'after-submission'],
]
const regions: readonly (readonly [words: string, value: AccountState['region']])[] = [
  ['home', 'home'],
  ['other region', 'regional'],
]

export function AccountSwitches({ state: { accounts }, change }: SwitchesProps): VNode {
  return (
    <section aria-labelledby="account-switches-title">
      <h3 id="account-switches-title">Accounts</h3>
      {accounts.map(({ identity, locked, captcha, region }) => {
        const set = (switches: Partial<AccountState>): void =>
          change('PATCH', `accounts/${encodeURIComponent(identity)}`, switches)
        return (
          <fieldset key={identity}>
            <legend>{identity}</legend>
            <Switch checked={locked} onChange={(on) => set({ locked: on })}>
              Locked
            </Switch>
            <Select
              label={`Captcha of ${identity}`}
              value={captcha}
              choices={captchas}
              onPick={(picked) => set({ captcha: picked })}
            />
            <Select
              label={`Region of ${identity}`}
              value={region}
              choices={regions}
              onPick={(picked) => set({ region: picked })}
            />
          </fieldset>
        )
      })}
    </section>
  )
}
