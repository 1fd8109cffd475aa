/** The kinds of stores: help, an address that is not understood and the README say the same of them. */
import { readdirSync, readFileSync } from 'node:fs'
import { useEmulator } from '@owner-sso/emulator/jest'
import { describe, expect, it } from '@jest/globals'
import { useMachine } from './machine.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)

const addresses = ['file:PATH', 'redis://HOST:PORT', 'postgres://HOST:PORT/DATABASE', 'sqlite:PATH', 'memory:']

describe('the kinds of stores', () => {
  it('are what help, an address that is not understood, and the README say', async () => {
    const [help, unknown] = await Promise.all(
      [['--help'], ['accounts', '--store', 'unknown:']].map((args) => machine.run(args)),
    )
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    expect(unknown?.code).toBe(2)
    for (const address of addresses)
      for (const text of [help?.stdout, unknown?.stderr, readme]) expect(text).toContain(address)
  })

  it('may be written with a tilde; what only a shell replaces is rejected, and no folder gets such a name', async () => {
    const tilde = await machine.signIn('Plain@Example.com', { env: { OWNER_SSO_STORE: 'file:~/kept' } })
    expect(tilde).toMatchObject({ code: 0 })
    expect((await machine.run(['token', '--store', 'file:~/kept', '--account', 'PLAIN@example.COM'])).code).toBe(0)
    for (const [store, words] of [
      ['~/tokens', 'Did you mean file:~/tokens?'],
      ['file:~ann/tokens', 'only a shell replaces'],
      ['file:$HOME/tokens', 'only a shell replaces'],
      ['sqlite:${HOME}/tokens.db', 'only a shell replaces'],
      ['rediss://127.0.0.1:1', '~/none.pem is not a readable PEM file'],
    ] as const) {
      const env = { OWNER_SSO_STORE: store, OWNER_SSO_CA: '~/none.pem' }
      const { code, stderr } = await machine.run(['accounts'], { env })
      expect([store, code, stderr]).toEqual([store, 2, expect.stringContaining(words)])
    }
    expect(readdirSync(machine.home).filter((name) => /^[~$]/u.test(name))).toEqual([])
  })

  it('are made by a sign-in, and by no command that only looks', async () => {
    const before = readdirSync(machine.home)
    const commands = ['status', 'accounts', 'token', 'refresh', 'logout', 'proxy', 'export', 'doctor', 'broker list']
    // Each command at one of them, and each address by one of them.
    const places = ['file:typo', 'file:http://x', 'file:$HOME/tokens', 'sqlite:~ann/typo.db']
    const problem = /There is no store at|can’t be understood|is not there yet|begins with what only a shell replaces/u
    for (const [index, command] of commands.entries()) {
      const address = places[index % places.length] ?? ''
      const { stdout, stderr } = await machine.run([...command.split(' '), '--store', address])
      expect([address, command, stdout + stderr]).toEqual([address, command, expect.stringMatching(problem)])
    }
    await Promise.all(commands.map((command) => machine.run(command.split(' '))))
    expect((await machine.run(['status'])).stderr).toContain('Nobody is signed in at file:')
    expect(readdirSync(machine.home).filter((name) => name !== '.cache')).toEqual(before)
    expect((await machine.run(['doctor'])).stdout).toMatch(/✔ store .*\(default\) is not there yet/u)
  }, 60_000)

  it('include memory:, which keeps nothing after the command', async () => {
    const tried = await machine.signIn('plain@example.com', { env: { OWNER_SSO_STORE: 'memory:' } })
    expect(tried).toMatchObject({ code: 0 })
    expect(await machine.run(['token'])).toMatchObject({ code: 3 })
  })
})
