import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { expect, it } from '@jest/globals'
import { credential, useMachine, until } from './machine.ts'
import { controlC, controlD, describeInTerminal, enter, inTerminal } from './terminal.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)

describeInTerminal('owner-sso login, in a terminal', () => {
  it('asks for e-mail, password, device and passcode, names its steps, and never shows the password', async () => {
    const terminal = inTerminal(machine, ['login'])
    await terminal.shows('E-mail')
    terminal.type(`mfa@example.com${enter}`)
    await terminal.shows('Password')
    terminal.type(`${credential}${enter}`)
    for (const step of ['Opening the login page', 'Sending the login form', 'Asking for the second factors']) {
      await terminal.shows(step)
    }
    await terminal.shows('Which device')
    terminal.type(enter)
    await terminal.shows('Passcode of Device #1')
    terminal.type(`000000${enter}`)
    await terminal.shows('did not accept this passcode')
    await terminal.shows('Passcode of Device #1')
    terminal.type(`${emulator.accounts.find(({ identity }) => identity === 'mfa@example.com')?.passcode()}${enter}`)
    await terminal.shows('Signed in as mfa@example.com')
    expect(await terminal.end()).toEqual({ code: 0, restored: true })
    expect(terminal.screen()).not.toContain(credential)
    expect(emulator.counters.passcodeChecks).toBe(2)
  })

  it('lets a wrong password be corrected twice, and sends none again', async () => {
    const terminal = inTerminal(machine, ['login', '--account', 'plain@example.com'])
    for (const [password, told] of [
      ['wrong one', 'did not accept this e-mail and password'],
      ['wrong one', 'they were not sent again'],
      ['wrong two', 'Check both and sign in again'],
    ]) {
      await terminal.shows('Password')
      terminal.type(`${password}${enter}`)
      await terminal.shows(told ?? '')
    }
    expect(await terminal.end()).toEqual({ code: 4, restored: true })
    expect(emulator.counters.formPosts).toBe(2)
  })

  it('Ctrl-C at a prompt ends it at once, the terminal as it was, and nothing stored', async () => {
    const terminal = inTerminal(machine, ['login', '--account', 'plain@example.com'])
    await terminal.shows('Password')
    terminal.type(enter)
    await terminal.shows('This can’t be left empty')
    terminal.type(`half a pass${controlC}`)
    expect(await terminal.end()).toEqual({ code: 130, restored: true })
    expect(terminal.screen()).toContain('Stopped. Nothing was stored.')
    expect(terminal.raw().lastIndexOf('\u001B[?25h')).toBeGreaterThan(terminal.raw().lastIndexOf('\u001B[?25l'))
    expect((await machine.run(['accounts'])).stdout).toBe('')
    expect(emulator.requests).toEqual([])
  })

  it('so does Ctrl-D, which closes the prompt', async () => {
    const terminal = inTerminal(machine, ['login'])
    await terminal.shows('E-mail')
    terminal.type(controlD)
    expect(await terminal.end()).toEqual({ code: 130, restored: true })
    expect(terminal.screen()).toContain('Stopped. Nothing was stored.')
  })

  it('so does SIGTERM', async () => {
    const terminal = inTerminal(machine, ['login', '--account', 'plain@example.com'])
    await terminal.shows('Password')
    process.kill(await terminal.pid(), 'SIGTERM')
    expect(await terminal.end()).toEqual({ code: 143, restored: true })
  })

  it('shows no colours with NO_COLOR', async () => {
    const terminal = inTerminal(machine, ['login', '--account', 'plain@example.com'], {
      NO_COLOR: '1',
      OWNER_SSO_CREDENTIAL: 'wrong',
    })
    expect((await terminal.end()).code).toBe(4)
    // eslint-disable-next-line no-control-regex
    expect(terminal.raw()).not.toMatch(/\u001B\[3\dm/u)
  })
})

describeInTerminal('owner-sso login --paste', () => {
  it('opens the browser where there is a display, and redeems the pasted address', async () => {
    const opener = machine.file('xdg-open', `#!/bin/sh\necho "$1" > ${machine.home}/opened`)
    chmodSync(opener, 0o700)
    const terminal = inTerminal(machine, ['login', '--paste', '--account', 'plain@example.com'], {
      DISPLAY: ':7',
      PATH: `${machine.home}:${process.env['PATH']}`,
    })
    await terminal.shows('Your browser opens this address')
    await terminal.shows('Address')
    terminal.type(`https://elsewhere.example/?code=x${enter}`)
    await terminal.shows('This is not the address')
    const url = readFileSync(join(machine.home, 'opened'), 'utf8').trim()
    expect(url).toContain('login_hint=plain%40example.com')
    terminal.type(`${await emulator.signInByHand(url)}${enter}`)
    await terminal.shows('Signed in as plain@example.com')
    expect(await terminal.end()).toEqual({ code: 0, restored: true })
  })

  it('says so where the person cancelled on the page, and ends with 4', async () => {
    const cancelled = `${emulator.authUrl}/void/callback?error=login_cancelled&state=x\n`
    const { code, stderr } = await machine.run(['login', '--paste', '--account', 'x@example.com'], { input: cancelled })
    expect(code).toBe(4)
    expect(stderr).toContain('You cancelled the sign-in. Nothing was stored.')
    expect(stderr).toContain('owner-sso login --paste')
  })

  it('starts the browser with the variables of the desktop, and none of its own secrets', async () => {
    const script = `#!/bin/sh\nenv > ${machine.home}/environment.new && mv ${machine.home}/environment.new ${machine.home}/environment`
    chmodSync(machine.file('xdg-open', script), 0o700)
    const desktop = {
      DISPLAY: ':7',
      XDG_SESSION_TYPE: 'x11',
      DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/bus',
      LC_ALL: 'C',
    }
    const terminal = inTerminal(machine, ['login', '--paste', '--account', 'plain@example.com'], {
      ...desktop,
      PATH: `${machine.home}:${process.env['PATH']}`,
      OWNER_SSO_CREDENTIAL: 'canary password',
      OWNER_SSO_TOTP_SECRET: 'CANARYCANARYCANARYCANARY',
      OWNER_SSO_ENCRYPTION_KEY: Buffer.alloc(32, 'canary').toString('base64'),
      REDISCLI_AUTH: 'canary of somebody else',
      NODE_EXTRA_CA_CERTS: '/dev/null',
    })
    await terminal.shows('Address')
    await until(() => existsSync(join(machine.home, 'environment')))
    const environment = readFileSync(join(machine.home, 'environment'), 'utf8')
    for (const [name, value] of Object.entries(desktop)) expect(environment).toContain(`${name}=${value}\n`)
    expect(environment).toContain(`HOME=${machine.home}\n`)
    expect(environment).not.toMatch(/canary|Y2FuYXJ5|^(?:OWNER_SSO|NODE_|REDIS)/imu)
    terminal.type(controlC)
    await terminal.end()
  })
})

/** Without a terminal: a program reads the address, signs in there, and writes the one that it ends on. */
async function signInAs(identity: string, named: string): Promise<{ code: number | null; said: string }> {
  const child = machine.start(['login', '--browser', '--account', named], { input: '' })
  let said = ''
  const url = await new Promise<string>((resolve) => {
    child.stderr?.on('data', (chunk) => {
      said += chunk
      const found = /^http:\S+$/mu.exec(said)?.[0]
      if (found !== undefined && said.includes('paste')) resolve(found)
    })
  })
  child.stdin?.end(`${await emulator.signInByHand(url, { identity })}\n`)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, said }
}

it('owner-sso login --browser reads the address from a program, without a terminal', async () => {
  const { code } = await signInAs('plain@example.com', ' Plain@Example.com')
  expect(code).toBe(0)
  expect((await machine.run(['status', '--json'])).stdout).toContain('"plain@example.com"')
})

it('owner-sso login --browser stores nothing where another account signed in than the one that was named', async () => {
  const { code, said } = await signInAs('plain@example.com', 'ann@example.com')
  expect(code).toBe(3)
  expect(said).toContain('You end up on a page that does not exist, …/void/callback?code=…')
  expect(said).toContain('Copy its whole address from the address bar, and paste it here.')
  expect(said).toContain('The account that signed in is plain@example.com, not ann@example.com. Nothing was stored.')
  expect(said).toContain('owner-sso login --browser --account plain@example.com')
  expect((await machine.run(['status', '--json'])).stdout).not.toContain('example.com')
})
