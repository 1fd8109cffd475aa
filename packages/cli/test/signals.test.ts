/** Signals that Node or the system would answer in their own way. */
import { once } from 'node:events'
import { useEmulator } from '@owner-sso/emulator/jest'
import { expect, it } from '@jest/globals'
import { ended, useMachine } from './machine.ts'
import { storeLogin } from './signed-in.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)

it.each([
  ['keep', 'stderr'],
  ['proxy', 'stdout'],
  ['broker --port 0', 'stdout'],
  ['emulator', 'stdout'],
] as const)('SIGUSR1 opens no debugger of owner-sso %s, which goes on', async (command, speaks) => {
  await storeLogin(machine, emulator, 'plain@example.com')
  const child = machine.start(command.split(' '), { env: { NODE_OPTIONS: '--inspect-port=0' } })
  const end = ended(child)
  const [said]: unknown[] = await once(child[speaks] ?? child, 'data')
  child.kill('SIGUSR1')
  // By then it would have opened it.
  const [url] = /http:\/\/127\.0\.0\.1:\d+/u.exec(String(said)) ?? [emulator.authUrl]
  await fetch(url)
  child.kill('SIGTERM')
  const { code, stderr } = await end
  expect(code).toBe(0)
  expect(stderr).not.toContain('Debugger')
})
