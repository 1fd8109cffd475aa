/** Names that others chose, full of what a terminal obeys: none of it reaches the terminal. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { createTokenManager } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { expect, it } from '@jest/globals'
import { credential, ended, useMachine } from './machine.ts'
import { controlC, describeInTerminal, enter, inTerminal } from './terminal.ts'

/** A title (OSC), a cursor movement and a colour (CSI, also in its one-byte form), a line of ours, bidi, a bell. */
const hostile =
  'Phone\u001B]0;title\u0007\u001B[2J\u001B[1;1H\u009B31m\r\nowner-sso: all is well\u202Egnp.\u2066\u200F\u2028x'
const shown = String.raw`Phone\u001b]0;title\u0007\u001b[2J\u001b[1;1H\u009b31m\u000d\u000aowner-sso: all is well\u202egnp.\u2066\u200f\u2028x`

const totpSecret = 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU'
const emulator = useEmulator({
  accounts: [
    {
      identity: 'mfa@example.com',
      credential,
      factors: [hostile, 'Other'].map((name) => ({ name, totpSecret })),
    },
  ],
})
const machine = useMachine(emulator)

/** What no output of ours has in it but as its own: sequences other than colours and cursor keys of the prompts. */
function expectTame(output: string): void {
  // eslint-disable-next-line no-control-regex
  expect(output).not.toMatch(/\u001B\]|\u0007|\u009B|\u001B\[2J|\u001B\[1;1H|[\p{Bidi_Control}\u2028]/u)
  expect(output).not.toMatch(/^owner-sso: all is well/mu)
}

async function keep(account: string): Promise<void> {
  const tokens = createTokenManager({
    issuer: { refresh: fails },
    store: fileTokenStore({ path: machine.tokensFolder }),
  })
  const expires_at = Date.now() / 1000 + 28_800
  const { authUrl: auth_url } = emulator
  await tokens.save(account, { access_token: 'a', refresh_token: account, token_type: 'Bearer', expires_at, auth_url })
}

const fails = (): Promise<never> => Promise.reject(new Error('It is not refreshed here.'))

describeInTerminal('names with control characters that a terminal would obey', () => {
  it('of second factors are escaped in the choice, the question after it, and the error', async () => {
    const args = ['login', '--account', 'mfa@example.com']
    const terminal = inTerminal(machine, args, { OWNER_SSO_CREDENTIAL: credential })
    await terminal.shows('Which device')
    await terminal.shows('Other')
    terminal.type(enter)
    await terminal.shows('Passcode of Phone')
    terminal.type(controlC)
    await terminal.end()
    expectTame(terminal.raw())
    // A prompt breaks its lines.
    expect(terminal.screen().replaceAll(/[\s│]/gu, '')).toContain(shown.replaceAll(' ', ''))

    const wrong = inTerminal(machine, [...args, '--factor', 'none'], { OWNER_SSO_CREDENTIAL: credential })
    expect((await wrong.end()).code).toBe(2)
    expectTame(wrong.raw())
    expect(wrong.screen()).toContain(String.raw`Phone\u001b]0;title\u0007`)
  })

  it.each([[['status']], [['accounts']], [['token']], [['status', '--json']], [['token', '--json']]])(
    'of accounts are escaped by %s',
    async (args) => {
      await keep(`1${hostile}`)
      await keep(`2${hostile}`)
      const terminal = inTerminal(machine, args)
      await terminal.end()
      expectTame(terminal.raw())
      expect(terminal.screen().replaceAll(/\s/gu, '')).toContain(`1${shown}`.replaceAll(' ', '').slice(0, 40))
    },
  )

  it('are the same in JSON, for programs', async () => {
    await keep(hostile)
    const { stdout } = await machine.run(['status', '--json'])
    expectTame(stdout)
    expect(JSON.parse(stdout).accounts[0].account).toBe(hostile)
  })
})

it('an audit log has one line of JSON for each call, with the name as it is', async () => {
  await keep(hostile)
  const [socket, path] = [join(machine.home, 'here.sock'), join(machine.home, 'audit.log')]
  const child = machine.start(['broker', '--socket', socket, '--audit', path])
  const end = ended(child)
  if (child.stdout) await once(child.stdout, 'data')
  const [answer] = await once(request({ socketPath: socket, path: '/token' }).end(), 'response')
  answer.resume()
  child.kill('SIGINT')
  expect((await end).code).toBe(0)
  const written = readFileSync(path, 'utf8')
  expectTame(written)
  expect(written.split('\n')).toHaveLength(2)
  expect(JSON.parse(written)).toMatchObject({ event: 'token', account: hostile })
})

it('shows what people write as they wrote it', async () => {
  const names = ['Zoë’s phone 📱👨‍👩‍👧', 'טלפון', String.raw`a\b`]
  for (const name of names) await keep(name)
  expect((await machine.run(['accounts'])).stdout.trimEnd().split('\n').toSorted()).toEqual(names.toSorted())
})
