/** `status` in a real terminal. What it looked like is in test-artefacts/captures. */
import { useEmulator } from '@owner-sso/emulator/jest'
import { expect, it } from '@jest/globals'
import { useMachine } from './machine.ts'
import { capture, describeInTerminal, inTerminal } from './terminal.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)

describeInTerminal('owner-sso status', () => {
  it('reads well as a table', async () => {
    await machine.signIn('plain@example.com')
    emulator.once('refresh', { drop: 'after-commit' })
    await machine.run(['refresh'])
    await machine.signIn('regional@example.com')
    const terminal = inTerminal(machine, ['status'])
    expect((await terminal.end()).code).toBe(0)
    capture('status', terminal)
    expect(terminal.screen()).toContain('its answer did not come')
  })
})
