/** `status --watch`, in a real terminal. What it looked like is in test-artefacts/captures. */
import { useEmulator } from '@owner-sso/emulator/jest'
import { expect, it } from '@jest/globals'
import { useMachine } from './machine.ts'
import { capture, controlC, describeInTerminal, inTerminal } from './terminal.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)

describeInTerminal('owner-sso status --watch', () => {
  it('draws over what it drew, shows what changed, and leaves the terminal as it was after Ctrl-C', async () => {
    await machine.signIn('plain@example.com')
    const terminal = inTerminal(machine, ['status', '--watch'])
    await terminal.shows('plain@example.com')
    await terminal.shows('Ctrl-C ends it.')
    await machine.signIn('regional@example.com')
    await terminal.shows('regional@example.com')
    terminal.type(controlC)
    expect(await terminal.end()).toEqual({ code: 0, restored: true })
    capture('status-watch', terminal)
    const raw = terminal.raw()
    // One alternate screen, entered and left; the cursor is there again; nothing is cleared as a whole in between.
    expect(raw.split('\u001B[?1049h')).toHaveLength(2)
    expect(raw.lastIndexOf('\u001B[?1049l')).toBeGreaterThan(raw.lastIndexOf('\u001B[H'))
    expect(raw.lastIndexOf('\u001B[?25h')).toBeGreaterThan(raw.lastIndexOf('\u001B[?25l'))
    expect(raw).not.toContain('\u001B[2J')
    // The last state stays to be read.
    expect(raw.slice(raw.lastIndexOf('\u001B[?1049l'))).toContain('regional@example.com')
  })

  it('is refused where its output is no terminal, or for a program', async () => {
    for (const args of [['--watch'], ['--watch', '--json']]) {
      const { code, stdout, stderr } = await machine.run(['status', ...args])
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain('owner-sso status --json')
    }
  })

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
