/** The kinds of stores: help, `owner-sso stores`, an address that is not understood and the README say the same of them. */
import { readdirSync, readFileSync } from 'node:fs'
import { useEmulator } from '@owner-sso/emulator/jest'
import { describe, expect, it } from '@jest/globals'
import { useMachine } from './machine.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)

interface Kind {
  readonly kind: string
  /** Such as `redis://HOST:PORT`. */
  readonly address: string
  readonly what: string
}

async function kinds(): Promise<Kind[]> {
  return JSON.parse((await machine.run(['stores', '--json'])).stdout).kinds
}

describe('the kinds of stores', () => {
  it('are what help, stores, an address that is not understood, and the README say', async () => {
    const [help, stores, unknown] = await Promise.all(
      [['--help'], ['stores'], ['stores', '--store', 'unknown:']].map((args) => machine.run(args)),
    )
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    expect(unknown?.code).toBe(2)
    for (const { address, what } of await kinds()) {
      for (const text of [help?.stdout, stores?.stdout, unknown?.stderr, readme]) expect(text).toContain(address)
      for (const text of [stores?.stdout, readme]) expect(text).toContain(what)
    }
  })

  it('are each known by their address, which is shown without its password', async () => {
    for (const { kind, address } of await kinds()) {
      const store = address.replace('PATH', '/srv/tokens').replace('HOST:PORT', 'ann:hush@127.0.0.1:6379')
      const { code, stdout } = await machine.run(['stores'], { env: { OWNER_SSO_STORE: store } })
      expect([kind, code, stdout]).toEqual([kind, 0, expect.stringMatching(new RegExp(`● ${kind}`, 'u'))])
      expect(stdout).not.toContain('hush')
    }
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
    for (const address of ['file:typo', 'file:http://x', 'file:$HOME/tokens', 'sqlite:~ann/typo.db']) {
      for (const command of commands) {
        const { stdout, stderr } = await machine.run([...command.split(' '), '--store', address])
        const problem =
          /There is no store at|can’t be understood|is not there yet|begins with what only a shell replaces/u
        expect([address, command, stdout + stderr]).toEqual([address, command, expect.stringMatching(problem)])
      }
    }
    for (const command of commands) await machine.run(command.split(' '))
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
