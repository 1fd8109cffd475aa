import type { ChildProcess } from 'node:child_process'
import { useEmulator } from '@owner-sso/emulator/jest'
import { describe, expect, it } from '@jest/globals'
import { once } from 'node:events'
import { ended, useMachine } from './machine.ts'
import { storeLogin } from './signed-in.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)

describe('owner-sso --help', () => {
  it('tells commands, options, environment, files, exit status and examples, in 100 columns', async () => {
    const { code, stdout, stderr } = await machine.run(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatchSnapshot()
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
  })

  it('of a command tells its own options, examples, and where those of all commands are', async () => {
    expect((await machine.run(['keep', '--help'])).stdout).toMatchSnapshot()
  })

  it('has one page for each command that it names', async () => {
    const [, list = ''] = /^Commands:\n([\s\S]*?)\n\n/mu.exec((await machine.run(['--help'])).stdout) ?? []
    const names = Array.from(list.matchAll(/^ {2}([a-z]+)/gmu), ([, name = '']) => name)
    expect(names.length).toBeGreaterThan(15)
    const pages = names.filter((each) => each !== 'emulator' && each !== 'help')
    const told = await Promise.all(pages.map(async (name) => ({ name, ...(await machine.run([name, '--help'])) })))
    for (const { name, code, stdout } of told) {
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(
          new RegExp(`^Usage: owner-sso ${name}.*Examples:.*\n\nOptions of every command: owner-sso --help\n$`, 'su'),
        ),
      ])
    }
  })

  it('tells its version', async () => {
    expect((await machine.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/u)
  })
})

describe('wrong usage', () => {
  it.each([
    ['no command', [], 'Usage:'],
    ['a command that is none', ['tokn'], 'Did you mean token?'],
    ['a word that is like no command', ['zzzzz'], "Unknown command 'zzzzz'.\n           See owner-sso --help"],
    ['an option that is none', ['token', '--acount'], 'Did you mean --account?'],
    ['an option without its value', ['token', '--account'], 'owner-sso token --help'],
    ['too many arguments', ['token', 'more'], 'but got 1.\n           See owner-sso token --help'],
    ['an e-mail as argument', ['token', 'ann@hush.example'], 'Name an account with --account E-MAIL'],
    ['help for a command that is none', ['help', 'tokn'], 'See owner-sso --help'],
    ['a store to copy from that is not there', ['copy', 'file:nowhere', 'file:there'], 'owner-sso doctor says'],
    ['too few', ['copy', 'file:x'], 'owner-sso copy --help'],
    ['a store that is none', ['status', '--store', 'mysql://x'], 'sqlite:PATH or memory:'],
    ['a password among the arguments', ['status', '--store', 'redis://u:hush@h'], 'OWNER_SSO_STORE'],
    ['a proxy’s password among them', ['status', '--proxy', 'http://u:hush@h'], 'OWNER_SSO_PROXY'],
    [
      'an address that is none',
      ['token', '--auth-url', 'auth.example.com', '--account', 'x'],
      'It came from --auth-url: correct it there',
    ],
    ['a service without TLS', ['login', '--auth-url', 'http://auth.example.com', '--account', 'x'], 'correct it there'],
    [
      'a password in place of its file',
      ['login', '--account', 'x', '--credential-file', 'hush'],
      'The file of --credential-file can’t be read (ENOENT).\n           Correct --credential-file: it takes a path',
    ],
    ['no file there', ['import', 'nowhere'], 'nowhere can’t be read (ENOENT).\n           Correct the argument'],
    ['two ways to sign in', ['login', '--browser', '--paste', '--account', 'x'], 'Give one of them'],
    ['a password for the service’s page', ['login', '--paste', '--credential-file', 'x'], 'Omit --credential-file'],
    ['a port that is none', ['proxy', '--port', '65536', '--account', 'x'], 'Give --port a number from 0'],
    ['a span of time that is none', ['keep', '--within', '1w'], 'Give --within a number and its unit'],
    ['an empty span of time', ['keep', '--refresh-token-lifetime', '0s'], 'Give --refresh-token-lifetime a number'],
    ['spans that do not go together', ['keep', '--within', '1h', '--every', '1h'], 'owner-sso keep --help'],
    ['one sweep, and how often', ['keep', '--once', '--every', '5m'], 'Omit --every'],
    ['an import of nothing', ['import', '/dev/null'], '/dev/null is empty.\n           Name the file'],
    ['an import without a file', ['import'], 'Standard input is empty.\n           Name the file'],
    ['an empty password', ['login', '--account', 'x', '--credential-file', '/dev/null'], 'is empty'],
  ])('%s: says what to do', async (_name, args, next) => {
    const { code, stdout, stderr } = await machine.run(args)
    expect(stdout).toBe('')
    expect(stderr).toContain(next)
    expect([2, 3]).toContain(code)
    expect(stderr).not.toContain('hush')
    expect(stderr).not.toMatch(/\n\s+at /u)
  })
})

describe('owner-sso emulator', () => {
  it('is the emulator’s own command', async () => {
    const { code, stdout } = await machine.run(['emulator', '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('--allow-browsers')
    const wrong = await machine.run(['emulator', '--mfa-at', 'nowhere'])
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('--mfa-at')
    const busy = await machine.run(['emulator', '--port', new URL(emulator.authUrl).port])
    expect([busy.code, busy.stderr]).toEqual([2, expect.stringContaining('is taken. Choose another --port')])
  })

  it('runs until Ctrl-C', async () => {
    const child = machine.start(['emulator'])
    const url = await addressOf(child, /SSO service +(\S+)/u)
    expect((await fetch(url)).headers.get('x-owner-sso-emulator')).toBe('1')
    child.kill('SIGINT')
    expect(await exitCodeOf(child)).toBe(0)
  })
})

describe('--json', () => {
  it('makes a failure one line of JSON, with a code for programs and the exit code', async () => {
    const { code, stdout, stderr } = await machine.run(['token', '--json'])
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'ERR_SSO_CLI',
        message: 'Nobody is signed in here.',
        next: 'Sign in with: owner-sso login',
        exitCode: 3,
      },
    })
  })

  it('makes a note one line of JSON as well, so that whoever parses the one stream parses the other', async () => {
    await machine.signIn('plain@example.com')
    const calls = ['status', 'refresh', 'copy - file:copied', 'keep --once', 'doctor', 'logout']
    for (const args of [...calls, 'export --plain-text-tokens']) {
      const { stdout, stderr } = await machine.run([...args.split(' '), '--json'])
      const lines = stderr.split('\n').filter(Boolean)
      expect([args, lines.map((line): unknown => JSON.parse(line))]).toEqual([
        args,
        lines.map(() => expect.any(Object)),
      ])
      expect(JSON.parse(stdout || '{}')).toEqual(expect.any(Object))
    }
  })
})

/** Node or the system would answer it in its own way. */
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

/** What the pattern finds in that which a program prints. */
function addressOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  let said = ''
  return new Promise((resolve) => {
    child.stdout?.on('data', (chunk) => {
      said += chunk
      const found = pattern.exec(said)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
}

function exitCodeOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', resolve))
}
