import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { expect, it } from '@jest/globals'
import { ended, useMachine, until } from './machine.ts'

const canary = 'canary-password-4f1c'
const totpSecret = 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU'
const emulator = useEmulator({ accounts: [{ identity: 'mfa@example.com', credential: canary, totpSecret }] })
const machine = useMachine(emulator)

it('no command but token says a secret, whatever goes wrong, and none is in arguments or titles', async () => {
  const env = { OWNER_SSO_CREDENTIAL: canary, OWNER_SSO_TOTP_SECRET: totpSecret }
  const said: string[] = []
  const run = async (...args: string[]): Promise<void> => {
    const { stdout, stderr } = await machine.run(args, { env })
    said.push(stdout, stderr)
  }
  const faults = [{ body: '<html>' }, { status: 500, body: { error: canary } }, { drop: 'before-commit' }] as const
  for (const fault of faults) {
    emulator.once('form-submission', fault)
    await run('login', '--account', 'mfa@example.com', '--json')
  }
  await run('login', '--account', 'mfa@example.com')
  for (const command of ['status', 'accounts', 'doctor', 'refresh', 'why']) await run(command, '--json')
  const token = (await machine.run(['token'])).stdout.trim()
  expect(token).toMatch(/^ey/u)
  const stored = filesOf(machine.tokensFolder)
  // The last fault, since every login of the store heeds it.
  emulator.once('form-submission', { firewall: true })
  await run('login', '--account', 'mfa@example.com', '--json')
  const refreshToken = /"refresh_token":"([^"]+)"/u.exec(stored)?.[1]
  const secrets = [canary, totpSecret, token, refreshToken]
  for (const secret of secrets) {
    expect(secret).toMatch(/\S{8}/u)
    expect(said.join('\n')).not.toContain(secret)
  }
  expect(stored).not.toContain(canary)
  expect(stored).not.toContain(totpSecret)
})

it('while a login runs, neither its arguments nor its title show the password', async () => {
  let release = (): void => undefined
  emulator.once('form-submission', { hold: new Promise<void>((resolve) => (release = resolve)) })
  const file = machine.file('password', canary)
  const child = machine.start(['login', '--account', 'mfa@example.com', '--credential-file', file])
  const end = ended(child)
  await until(() => emulator.requests.length === 2 || emulator.counters.loginPages === 1)
  const commandLine = process.platform === 'linux' ? readFileSync(`/proc/${child.pid}/cmdline`, 'utf8') : ''
  release()
  await end
  expect(commandLine).not.toContain(canary)
})

function filesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath ?? entry.path, entry.name), 'utf8'))
    .join('\n')
}
