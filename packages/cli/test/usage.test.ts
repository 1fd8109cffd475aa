import type { ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { commandTable, globalOptions } from '../src/command-table.ts'
import { constantText } from './constant-text.ts'
import { type CallOptions, credential, type Machine, newMachine } from './machine.ts'

const emulator = useEmulator()
let machine: Machine

beforeEach(() => {
  machine = newMachine(emulator)
})
afterEach(() => machine.remove())

describe('owner-sso --help', () => {
  it('tells commands, options, environment, files, exit status and examples, in 100 columns', async () => {
    const { code, stdout, stderr } = await machine.run(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const { name, summary } of commandTable) expect(stdout).toMatch(new RegExp(`  ${name}.* ${summary}`, 'u'))
    for (const [flags] of globalOptions) expect(stdout).toContain(flags)
    for (const heading of ['Environment:', 'Files:', 'Exit status:', 'Examples:']) expect(stdout).toContain(heading)
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
  })

  it.each(commandTable.filter(({ passesOptionsOn }) => !passesOptionsOn).map(({ name }) => name))(
    '%s has one of its own, with examples',
    async (name) => {
      const { code, stdout } = await machine.run([name, '--help'])
      expect(code).toBe(0)
      expect(stdout).toContain('Examples:')
    },
  )

  it('tells its version', async () => {
    expect((await machine.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/u)
  })
})

describe('wrong usage', () => {
  it.each([
    ['no command', [], 'Usage:'],
    ['a command that is none', ['tokn'], 'Did you mean token?'],
    ['a word that is like no command', ['bogus'], "Unknown command 'bogus'.\n           See owner-sso --help"],
    ['an option that is none', ['token', '--acount'], 'Did you mean --account?'],
    ['an option without its value', ['token', '--account'], 'owner-sso token --help'],
    ['too many arguments', ['token', 'more'], 'but got 1.\n           See owner-sso token --help'],
    ['help for a command that is none', ['help', 'tokn'], 'See owner-sso --help'],
    ['a store to copy from that is not there', ['copy', 'file:nowhere', 'file:there'], 'owner-sso stores'],
    ['encrypting without a key', ['copy', '--from-plain', 'file:.', 'file:y'], 'Set OWNER_SSO_ENCRYPTION_KEY'],
    ['decrypting without one', ['copy', '--to-plain', 'file:.', 'file:y'], 'Set OWNER_SSO_ENCRYPTION_KEY'],
    ['too few', ['copy', 'file:x'], 'owner-sso copy --help'],
    ['a store that is none', ['status', '--store', 'mysql://x'], 'owner-sso stores'],
    ['a password among the arguments', ['status', '--store', 'redis://u:hush@h'], 'OWNER_SSO_STORE'],
    ['a shell that is unknown', ['completion', 'tcsh'], 'bash, zsh and fish'],
    [
      'an address that is none',
      ['token', '--auth-url', 'auth.example.com', '--account', 'x'],
      'It came from --auth-url: correct it there',
    ],
    ['a service without TLS', ['login', '--auth-url', 'http://auth.example.com', '--account', 'x'], 'correct it there'],
    ['no file there', ['login', '--account', 'x', '--credential-file', 'nowhere'], 'Correct --credential-file'],
    ['two ways to sign in', ['login', '--browser', '--paste', '--account', 'x'], 'Give one of them'],
    ['a password for the service’s page', ['login', '--paste', '--credential-file', 'x'], 'Omit --credential-file'],
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

describe('the config file', () => {
  it('gives what neither an option nor a variable says, and an option outdoes both', async () => {
    config({ account: 'config@example.com', store: 'file:~/there', regionalAuthUrls: [] })
    const env = { OWNER_SSO_ACCOUNT: '' }
    const fromConfig = await machine.run(['status', '--json'], { env })
    expect(JSON.parse(fromConfig.stdout)).toMatchObject({
      store: `file:${machine.home}/there`,
      accounts: [{ account: 'config@example.com' }],
    })
    const fromVariable = await machine.run(['status', '--json'], { env: { OWNER_SSO_ACCOUNT: 'var@example.com' } })
    expect(JSON.parse(fromVariable.stdout).accounts[0].account).toBe('var@example.com')
    const fromOption = await machine.run(['status', '--json', '--account', 'option@example.com'], {
      env: { OWNER_SSO_ACCOUNT: 'var@example.com' },
    })
    expect(JSON.parse(fromOption.stdout).accounts[0].account).toBe('option@example.com')
  })

  it('is looked for where XDG_CONFIG_HOME says, as is the default store', async () => {
    const { stdout } = await machine.run(['stores', '--json'], { env: { XDG_CONFIG_HOME: join(machine.home, 'x') } })
    expect(JSON.parse(stdout).inUse).toBe(`file:${machine.home}/x/owner-sso/tokens`)
  })

  it('is not looked for relative to where the command runs', async () => {
    const { stdout } = await machine.run(['stores', '--json'], { env: { XDG_CONFIG_HOME: 'here' } })
    expect(JSON.parse(stdout).inUse).toBe(`file:${machine.home}/.config/owner-sso/tokens`)
  })

  it.each([
    ['an unknown setting', { credential: 'hush' }, 'has no setting "credential"'],
    ['a setting of the wrong kind', { account: 7 }, 'has a wrong account'],
    ['no object', [], 'is not a JSON object'],
  ])('%s: says what is wrong with it', async (_name, content, problem) => {
    config(content)
    const { code, stderr } = await machine.run(['status'])
    expect(code).toBe(2)
    expect(stderr).toContain(problem)
    expect(stderr).not.toContain('hush')
  })

  it.each([
    ['that others can change', 0o606, { account: 'ann@example.com' }, 'Other users can change'],
    ['that a group can change', 0o660, { account: 'ann@example.com' }, 'Other users can change'],
    ['with a password that others can read', 0o604, { store: 'redis://u:hush@127.0.0.1:1' }, 'the password in it'],
    ['with a password that a group can read', 0o640, { store: 'rediss://:hush@127.0.0.1:1' }, 'the password in it'],
  ])('%s is refused by every command but doctor, which tells of it', async (_name, mode, content, problem) => {
    chmodSync(config(content), mode)
    for (const command of ['login', 'status', 'token']) {
      const { code, stdout, stderr } = await machine.run([command])
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain(problem)
      expect(stderr).toContain('chmod 600')
    }
    const doctor = await machine.run(['doctor'])
    expect(doctor.stdout).toContain(problem)
    expect(doctor.stdout).toContain('chmod 600')
    expect(doctor.stdout + doctor.stderr).not.toContain('hush')
    expect(emulator.counters).toMatchObject({ loginPages: 0 })
  })

  it('that others can only read, and without a password, is nothing to speak of', async () => {
    chmodSync(config({ account: 'ann@example.com', store: 'redis://127.0.0.1:1' }), 0o644)
    expect((await machine.run(['stores'])).code).toBe(0)
    expect((await machine.run(['doctor'])).stdout).toMatch(/✔ config file/u)
  })

  function config(content: unknown): string {
    mkdirSync(join(machine.home, '.config', 'owner-sso'), { recursive: true })
    return machine.file('.config/owner-sso/config.json', JSON.stringify(content))
  }
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

  it('takes scenarios, faults and account switches, which a login then meets', async () => {
    const flags = ['--scenario', 'mfa-at-form', '--once', 'login-page:status=503', '--locked', 'plain@example.com']
    const child = machine.start(['emulator', ...flags])
    const env = { OWNER_SSO_AUTH_URL: await addressOf(child, /SSO service +(\S+)/u) }
    expect((await machine.signIn('plain@example.com', { env })).stderr).toContain('503')
    expect((await machine.signIn('plain@example.com', { env })).stderr).toContain('locked')
    child.kill('SIGINT')
    expect(await exitCodeOf(child)).toBe(0)
    expect((await machine.run(['emulator', '--scenario', 'doomsday'])).stderr).toContain('Unknown scenario doomsday')
  })

  it('records a login, and replays it until the last answer', async () => {
    const file = join(machine.home, 'login.json')
    const pointedAt = (authUrl: string): CallOptions => ({ env: { OWNER_SSO_AUTH_URL: authUrl } })
    const program = /point your program at +(\S+)/u

    const recorder = machine.start(['emulator', 'record', '--upstream', emulator.authUrl, '--fixture', file])
    const login = await machine.signIn('plain@example.com', pointedAt(await addressOf(recorder, program)))
    expect(login.code).toBe(0)
    recorder.kill('SIGINT')
    expect(await exitCodeOf(recorder)).toBe(0)
    expect(readFileSync(file, 'utf8')).not.toMatch(new RegExp(`${credential}|plain@`, 'u'))

    const replay = machine.start(['emulator', 'replay', file, '--once'])
    const end = exitCodeOf(replay)
    const again = await machine.signIn('somebody@example.com', pointedAt(await addressOf(replay, program)))
    expect(again.code).toBe(0)
    expect(await end).toBe(0)
  })
})

describe('what is said', () => {
  it('is what the last release said, word for word: a change of it is one for its users', async () => {
    const account = 'plain@example.com'
    const env = { OWNER_SSO_CREDENTIAL: credential }
    const copy = ['copy', `file:${machine.tokensFolder}`, 'file:copied']
    const calls: readonly (readonly [args: string, env?: NodeJS.ProcessEnv])[] = [
      ['stores'],
      ['stores --json'],
      ['accounts'],
      ['status'],
      ['token --json'],
      ['logout --account ann@example.com'],
      ['keep --once'],
      ['broker list'],
      [`login --account ${account} --json`, env],
      ['login --account regional@example.com', env],
      ['accounts --json'],
      ['token'],
      ['status'],
      [`status --json --account ${account}`],
      ['status --account ann@example.com'],
      [`token --json --account ${account}`],
      ['token --account ann@example.com --json'],
      [`refresh --account ${account}`],
      [`refresh --account ${account} --json`],
      [`export --account ${account} --plain-text-tokens`],
      ['export --all --plain-text-tokens --file exported.json'],
      ['export --all --plain-text-tokens --file exported.json'],
      ['export --all --plain-text-tokens --file nowhere/exported.json'],
      ['import exported.json --dry-run'],
      ['import exported.json --yes --replace --json'],
      [`import exported.json --yes --replace --check --account ${account}`],
      [`${copy.join(' ')} --json`],
      [copy.join(' ')],
      [`broker invite heating --account ${account}`],
      [`broker invite lights --account ${account} --scope proxy,token --calls-per-minute 5 --json`],
      ['broker list'],
      ['broker list --json'],
      ['broker rotate lights --grace 60 --json'],
      ['broker revoke heating'],
      ['broker code'],
      ['broker code --json'],
      ['keep --once'],
      ['keep --once --json'],
      ['doctor'],
      [`doctor --account ${account} --json`],
      [`logout --account ${account} --json`],
      [`logout --account ${account} --json`],
    ]
    const transcript: string[] = []
    for (const [args, more = {}] of calls) {
      const { code, stdout, stderr } = await machine.run(args.split(' '), { env: more })
      // Whoever parses the one stream parses the other: a line is a note, or the error.
      if (args.includes('--json')) for (const line of stderr.trim().split('\n').filter(Boolean)) JSON.parse(line)
      transcript.push(`$ owner-sso ${args}`, stdout, stderr && `(standard error)\n${stderr}`, `(exit code ${code})\n`)
    }
    transcript.push('$ cat exported.json', readFileSync(join(machine.home, 'exported.json'), 'utf8'))
    expect(constant(transcript.filter((text) => text !== '').join('\n'))).toMatchSnapshot()
  }, 180_000)

  /** Without what differs from one call to the next. */
  function constant(text: string): string {
    const names = [
      [machine.home, '/home/ann'],
      ...(['authUrl', 'regionalAuthUrl', 'ownerApiUrl'] as const).flatMap((name) => {
        const { origin, host } = new URL(emulator[name])
        return [
          [origin, `http://${name}`],
          [host, name],
        ] as const
      }),
    ] as const
    return constantText(names.reduce((said, [name, written]) => said.replaceAll(name, written), text))
  }
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
