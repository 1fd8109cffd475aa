import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { useEmulator } from '@owner-sso/emulator/jest'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { describe, expect, it } from '@jest/globals'
import { ended, useMachine, until } from './machine.ts'
import { storeLogin } from './signed-in.ts'

const emulator = useEmulator()
const hours = (count: number): number => count * 3600
const machine = useMachine(emulator)

describe('owner-sso keep', () => {
  it('--once refreshes what ends soon, says so, and leaves the rest alone', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    await storeLogin(machine, emulator, 'regional@example.com')
    const early = await machine.run(['keep', '--once'])
    expect(early).toMatchObject({ code: 0, stdout: '' })
    expect(early.stderr).toContain('2 accounts signed in, 0 due, 0 refreshed.')
    const due = await machine.run(['keep', '--once'], { ahead: hours(6.5) })
    expect(due.code).toBe(0)
    expect(due.stderr).toContain('2 accounts, 2 due.')
    expect(due.stderr).toContain('2 accounts signed in, 2 due, 2 refreshed.')
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 2, replays: 0 })
  })

  it('names who has to sign in again, and fails where nothing could be refreshed', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    emulator.once('refresh', { status: 400, body: { error: 'invalid_grant' } })
    const refused = await machine.run(['keep', '--once'], { ahead: hours(6.5) })
    expect(refused.stderr).toContain('plain@example.com has to sign in again (refresh_token_rejected): owner-sso login')
    expect(refused.stderr).toContain('1 must sign in again.')
    await storeLogin(machine, emulator, 'regional@example.com')
    emulator.once('refresh', { status: 503 })
    const failed = await machine.run(['keep', '--once'], { ahead: hours(6.5) })
    expect(failed.code).toBe(7)
    expect(failed.stderr).toMatch(/^regional@example\.com: ERR_SSO_UNEXPECTED_RESPONSE: /mu)
    expect(failed.stderr).not.toContain('ERR_SSO_REFRESH_IN_DOUBT')
    expect(failed.stderr).toContain('1 failed')
    // In doubt: nothing is sent, and so no refresh fails. Each token has its own time from which on it is told: 6.6 h at most.
    const doubt = await machine.run(['keep', '--once', '--json'], { ahead: hours(6.7) })
    expect(linesOf(doubt.stderr)).toContainEqual(
      expect.stringMatching(/^regional@example\.com: ERR_SSO_REFRESH_IN_DOUBT: /u),
    )
  })

  it('a name with line breaks or control characters stays on one line, in text and in JSON', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const store = fileTokenStore({ path: machine.tokensFolder })
    const stored = await store.read('plain@example.com')
    const names = ['a\n2 accounts signed in', '\u001b[2Jb', '\u202ecba', '\u2028d', '__proto__', '{"account":"e"}', ' ']
    for (const name of names) if (stored) await store.swap(name, 0, stored.record, 'one')
    emulator.always('refresh', { status: 400, body: { error: 'invalid_grant' } })
    const plain = await machine.run(['keep', '--once'], { ahead: hours(6.5) })
    const lines = plain.stderr.trim().split('\n')
    expect(lines.filter((line) => line.includes('has to sign in again'))).toHaveLength(names.length + 1)
    expect(lines.filter((line) => line.includes('accounts signed in'))).toHaveLength(2)
    expect(plain.stderr.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u)

    // Told again by another process, this time for programs.
    const told = await machine.run(['keep', '--once', '--json'], { ahead: hours(6.6) })
    expect(linesOf(told.stderr).filter((line) => line.includes('has to sign in again'))).toHaveLength(names.length + 1)
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('goes on until %s, and ends with 0', async (signal) => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const child = machine.start(['keep', '--within', '2h', '--every', '10m'])
    const end = ended(child)
    await said(child, 'Next at ')
    child.kill(signal)
    expect(await end).toMatchObject({ code: 0 })
  })

  it('two of them: one works, the other waits, and takes over when it is killed', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const first = machine.start(['keep', '--every', '1s', '--within', '4s'])
    await said(first, 'Next at ')
    const second = machine.start(['keep', '--every', '1s', '--within', '4s'])
    first.kill('SIGKILL')
    await said(second, 'Next at ')
    const end = ended(second)
    second.kill('SIGTERM')
    expect((await end).code).toBe(0)
  })
})

/** The notes of `--json`. */
function linesOf(stderr: string): string[] {
  const lines = stderr.trim().split('\n')
  return lines.map((line) => String(JSON.parse(line).note))
}

/** Waits until a process has said something. */
async function said(child: ChildProcess, words: string): Promise<void> {
  let text = ''
  child.stderr?.on('data', (chunk) => (text += chunk))
  if (child.stderr) await Promise.race([once(child.stderr, 'data'), once(child, 'exit')])
  await until(() => text.includes(words))
}
