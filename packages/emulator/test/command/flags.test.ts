import { afterEach, describe, expect, it } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { helpText } from '../../src/command/help.ts'
import { optionFlagHelp, optionFlags, optionsOf } from '../../src/command/option-flags.ts'
import { parseEmulatorOptions } from '../../src/options/parse-options.ts'

const command = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

function run(args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  return child
}

/** The state of an emulator that was started with these flags. */
async function stateWith(...args: readonly string[]): Promise<Record<string, never>> {
  const child = run(args)
  const [greeting] = await once(child.stdout ?? child, 'data')
  const address = /SSO service\s+(\S+)/u.exec(String(greeting))?.[1] ?? ''
  return JSON.parse(await (await fetch(`${address}/_emulator/state`)).text())
}

async function complaint(...args: readonly string[]): Promise<string> {
  const child = run(args)
  let text = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const [code] = await once(child, 'close')
  return `${code} ${text.trim()}`
}

describe('the flags of the options', () => {
  it('are all of them, under their names with dashes', () => {
    const options = Object.keys(parseEmulatorOptions()).map((name) =>
      name.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`),
    )
    const flags = new Set(Object.keys(optionFlags).map((flag) => flag.replace(/^no-/u, '')))
    expect([...flags].toSorted()).toEqual(options.toSorted())
    expect(optionFlagHelp.map(({ name }) => name).toSorted()).toEqual(Object.keys(optionFlags).toSorted())
  })

  it('take words, numbers, null and JSON', () => {
    const options = optionsOf({
      tls: true,
      rotation: 'omit',
      latency: '20',
      'expires-in': 'null',
      host: '127.0.0.2',
      firewall: '{"maxRequests":5}',
      'no-inspector': true,
    })
    expect(parseEmulatorOptions(options)).toMatchObject({
      tls: true,
      rotation: 'omit',
      latency: 20,
      expiresIn: null,
      host: '127.0.0.2',
      firewall: { maxRequests: 5, windowSeconds: 60 },
      inspector: false,
    })
    expect(optionsOf({ 'no-firewall': true })).toMatchObject({ firewall: false })
  })
})

describe('npx @owner-sso/emulator', () => {
  it('starts with every kind of switch set', async () => {
    const flags = [
      ['--rotation', 'omit', '--hidden-inputs', '{"rename":{"_csrf":"check"}}', '--latency', '5'],
      ['--scenario', 'mfa-at-form', '--scenario', 'firewall-at-refresh'],
      ['--always', 'token:status=503,delay=20', '--once', 'owner-api:{"status":500,"body":{"a":1}}'],
      ['--locked', 'plain@example.com', '--captcha', 'mfa@example.com'],
      ['--captcha-after-submission', 'regional@example.com', '--regional', 'plain@example.com'],
      ['--block-now', '--clock-at', '2030-01-01T00:00:00Z', '--clock-frozen'],
    ]
    expect(await stateWith(...flags.flat())).toMatchObject({
      options: {
        rotation: { value: 'omit' },
        hiddenInputs: { value: { rename: { _csrf: 'check' } } },
        latency: { value: 5 },
        mfaAt: { value: 'form-submission' },
      },
      faults: {
        token: { always: { status: 503, delay: 20 } },
        refresh: { once: [{ firewall: 'script' }] },
        'owner-api': { once: [{ status: 500, body: { a: 1 } }] },
      },
      accounts: [
        { identity: 'plain@example.com', locked: true, region: 'regional' },
        { identity: 'mfa@example.com', captcha: true },
        { identity: 'regional@example.com', captcha: 'after-submission' },
      ],
      clock: { frozen: true, now: expect.closeTo(Date.UTC(2030, 0, 1) / 1000, -1) },
      firewall: { blockedUntil: expect.any(Number) },
    })
  })

  it.each([
    [['--scenario', 'doomsday'], '--scenario: Unknown scenario doomsday'],
    [['--once', 'refresh'], '--once: it must be like refresh:drop=after-commit'],
    [['--once', 'refresh:drop=never'], '--once: Field drop must be'],
    [['--always', 'tokens:status=503'], '--always: Unknown endpoint tokens'],
    [['--locked', 'nobody@example.com'], '--locked: The emulator has no account nobody@example.com'],
    [['--clock-at', 'noon'], '--clock-at: Field jump must be'],
    [['--firewall', '{"maxRequests":0}'], 'Option --firewall must be'],
    [['--tls-min-version', 'TLSv1.3', '--tls-max-version', 'TLSv1.2'], 'Option --tls-min-version must not be above'],
  ])('explains %j and ends', async (args, message) => {
    const text = await complaint(...args)
    expect(text.startsWith('2 ')).toBe(true)
    expect(text).toContain(message)
  })
})

it('the help is what the last release said: a change of it is one for its users', () => {
  expect(helpText()).toMatchSnapshot()
})

it('the help has its words in columns of 111 characters at most, and uses them', () => {
  const rows = helpText()
    .split('\n')
    .filter((row) => row.startsWith('  ') && !row.startsWith('  npx '))
  expect(Math.max(...rows.map((row) => row.length))).toBe(2 + 38 + 1 + 70)
})
