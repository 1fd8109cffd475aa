/** Each limit at it and one beyond it: commands, their completion, and what is written to a person. */
import { styleText } from 'node:util'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { clientTable } from '../src/broker/client-table.ts'
import { CommandError, exitCodes } from '../src/command-error.ts'
import { commandTable, globalOptions } from '../src/command-table.ts'
import { bash } from '../src/completion/bash.ts'
import { fish } from '../src/completion/fish.ts'
import { fileFlags, flagsOf, quoted } from '../src/completion/words.ts'
import { zsh } from '../src/completion/zsh.ts'
import { duration } from '../src/duration.ts'
import { lifeBar } from '../src/life-bar.ts'
import { printNote, renderedLines } from '../src/output.ts'
import { progressBar, progressLine } from '../src/progress-bar.ts'
import { canAsk } from '../src/prompts.ts'
import { report } from '../src/report.ts'
import { secondsLeft, statusTable } from '../src/status/status-table.ts'
import { visible } from '../src/visible-text.ts'
import { runClock } from '../src/window/sign-in-clock.ts'

it('each command is what the last release had: a change of it is one for its users', () => {
  expect({ commandTable, globalOptions, exitCodes }).toMatchSnapshot()
})

it.each([
  [-1, '0 s'],
  [59.9, '59 s'],
  [60, '1 min'],
  [3599, '59 min'],
  [3600, '1 h'],
  [3660, '1 h 1 min'],
  [86_400, '24 h'],
])('%f seconds are %s', (seconds, words) => {
  expect(duration(seconds)).toBe(words)
})

it.each([
  [100, 100, 20],
  [0, 100, 0],
  [-1, 100, 0],
  [1, 100, 1],
  [5, 100, 1],
  [5.1, 100, 2],
  [200, 100, 20],
  [1, 0, 0],
])('of %f of %f seconds the bar shows %i of 20', (left, lifetime, filled) => {
  expect(lifeBar(left, lifetime)).toBe('█'.repeat(filled) + '░'.repeat(20 - filled))
})

it('what could forge a line is written as JSON writes it', () => {
  expect(visible('a\u001b\n\u0085\u202e\u2028\ud800é😀')).toBe(String.raw`a\u001b\u000a\u0085\u202e\u2028\ud800é😀`)
})

describe('the bar of long work', () => {
  const drawn = (steps: readonly number[], screen = { isTTY: true, columns: 80 }) => {
    const written: number[] = []
    let now = 0
    const write = (): boolean => written.push(now) > 0
    const bar = progressBar('Copying', 10, { ...screen, write }, () => now)
    for (const step of steps) {
      now = step
      bar.advance()
    }
    return written
  }

  it('is drawn after a second, and again after a tenth of one', () => {
    expect(drawn([999, 1000, 1099, 1100, 1199, 1201])).toEqual([1000, 1100, 1201])
  })

  it('is full at the end and never longer', () => {
    expect(progressLine('Copying', 10, 10, 1000)).toBe(`Copying  ${'█'.repeat(24)}  10 of 10, 0 s left`)
    expect(progressLine('Copying', 11, 10, 1000)).toBe(`Copying  ${'█'.repeat(24)}  11 of 10, 0 s left`)
    expect(progressLine('Copying', 1, 3, 1000)).toBe(`Copying  ${'█'.repeat(8)}${'░'.repeat(16)}  1 of 3, 2 s left`)
    expect(progressLine('Copying', 1, 0, 1000)).toBe(`Copying  ${'░'.repeat(24)}  1 of 0, 0 s left`)
  })
})

it('a person at the window has 15 minutes, by the clock on the wall, and is told whenever the words for it change', async () => {
  jest.useFakeTimers({ now: 1_790_000_000_000 })
  try {
    const [shown, ended] = [[] as string[], new AbortController()]
    const clock = runClock(
      (left) => shown.push(left),
      ended.signal,
      () => new Error('over'),
    )
    let outcome = 'goes on'
    clock.catch((error: Error) => (outcome = error.message))
    await jest.advanceTimersByTimeAsync(899_999)
    const words = [...Array.from({ length: 15 }, (_, left) => `${15 - left} min`), '59 s']
    expect([outcome, shown.slice(0, 16), shown.at(-1), shown.length]).toEqual(['goes on', words, '0 s', 75])
    await jest.advanceTimersByTimeAsync(1)
    expect([outcome, jest.getTimerCount()]).toEqual(['over', 1])
    ended.abort()
    expect(jest.getTimerCount()).toBe(0)
  } finally {
    jest.useRealTimers()
  }
})

describe('the table of accounts', () => {
  const now = (): number => Date.now() / 1000
  const textOf = (status: object): string =>
    statusTable([{ account: 'ann@example.com', ...status } as never])
      .map((line) =>
        [line]
          .flat()
          .map((part) => (typeof part === 'string' ? part : part.text))
          .join(''),
      )
      .join('\n')

  it('shows what is left, the last refresh and the next one', () => {
    const text = textOf({
      state: 'valid',
      obtained_at: now() - 50,
      expires_at: now() + 55.5,
      refreshed_at: now() - 65,
      refresh_due_at: now() + 125,
      auth_url: 'https://auth.example.com/path',
    })
    expect(text).toMatch(
      /^ann@example.com {2}valid {2}█{11}░{9} {2}55 s left {2}auth.example.com\n {17}refreshed 1 min ago, next refresh in 2 min$/u,
    )
    expect(textOf({ state: 'valid', expires_at: now() + 9, refresh_due_at: now() - 1 })).toContain(
      'next refresh when it is next used',
    )
  })

  it('shows what went wrong, and what to do', () => {
    expect(textOf({ state: 'expired', expires_at: now() - 9, obtained_at: now() - 99 })).toMatch(
      /expired {2}░{20} {2}refreshed when next used$/u,
    )
    const doubt = textOf({ state: 'in-doubt', in_doubt_since: now() - 61, next_attempt_at: now() + 61.5 })
    expect(doubt).toContain('replayed in 1 min')
    expect(doubt).toContain('in doubt since a refresh 1 min ago: its answer was lost')
    expect(textOf({ state: 'reauthentication-required', reason: 'grant_revoked', expires_at: now() + 9 })).toMatch(
      /^ann@example.com {2}sign in again {2}run owner-sso login \(grant revoked\)$/u,
    )
    expect(textOf({ state: 'signed-out' })).toMatch(/signed out {2}run owner-sso login$/u)
    expect(textOf({ state: 'signed-out', last_failure: { at: now() - 5, code: 'ERR_SSO_TIMEOUT' } })).toContain(
      'last failure 5 s ago: the SSO service did not answer in time (ERR_SSO_TIMEOUT)',
    )
    expect(textOf({ state: 'signed-out', last_failure: { at: now(), code: 'ERR_OTHER' } })).toContain(
      'the refresh failed (ERR_OTHER)',
    )
  })

  it('knows no seconds where there is no token, and none below 0', () => {
    expect([secondsLeft({} as never), secondsLeft({ expires_at: now() - 9 } as never)]).toEqual([undefined, 0])
  })
})

it('the programs that a broker lets in stand in columns, each with its last call', () => {
  const program = { name: 'a', accounts: ['ann@example.com'], scope: ['token' as const], calls: 0 }
  const now = Date.now() / 1000
  expect(
    clientTable([
      program,
      { ...program, name: 'heating', calls: 12, last_used_at: now - 125, last_address: '192.0.2.1' },
      { ...program, accounts: ['b@c', 'd\n@e'], scope: ['token', 'proxy'], calls: 1, last_used_at: now - 7300 },
    ]),
  ).toEqual([
    'a        ann@example.com  token         0 calls   never used',
    'heating  ann@example.com  token         12 calls  2 min ago from 192.0.2.1',
    'a        b@c, d\\u000a@e   token, proxy  1 call    2 h 1 min ago from unknown',
  ])
  expect(clientTable([])).toEqual([])
})

it('what a program reads on standard error has no colour, no blank line, and no space around it', () => {
  const written: string[] = []
  const { argv } = process
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  process.argv = [...argv, '--json']
  printNote(['  a ', { format: 'red', text: 'b' }, ' c'], ' ', 'd ')
  process.argv = argv
  jest.restoreAllMocks()
  expect(written).toEqual(['{"note":"a b c"}\n', '{"note":"d"}\n'])
})

describe('words in a colour', () => {
  const { env } = process
  const streams = ['stdout', 'stderr'] as const
  const before = streams.map((name) => Object.getOwnPropertyDescriptor(process[name], 'isTTY'))
  const setTerminals = (...are: readonly boolean[]): void => {
    for (const [index, name] of streams.entries())
      Object.defineProperty(process[name], 'isTTY', { value: are[index], configurable: true })
  }
  afterEach(() => {
    process.env = env
    for (const [index, name] of streams.entries())
      Object.defineProperty(process[name], 'isTTY', before[index] ?? { value: undefined, configurable: true })
  })
  const shown = (stream: (typeof streams)[number]) =>
    renderedLines([['a ', { format: 'red', text: 'b\n' }]], stream).join('|')
  const plain = String.raw`a b\u000a`

  it.each([
    [60, ['a'.repeat(24), 'b'.repeat(24)], 1],
    [60, ['a'.repeat(24), 'b'.repeat(25)], 2],
    [20, ['a'.repeat(19), 'b'.repeat(20)], 1],
    [20, ['a'.repeat(20), 'b'.repeat(20)], 2],
    [undefined, ['a'.repeat(99), 'b'.repeat(99)], 1],
  ])('in a terminal of %s columns, an error of %j has so many lines: %i', (columns, words, count) => {
    const written: string[] = []
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0)
    setTerminals(false, columns !== undefined)
    const { columns: real } = process.stderr
    Object.assign(process.stderr, { columns })
    process.env = { NO_COLOR: '1' }
    expect(report(new CommandError(exitCodes.store, words.join(' '), 'Do it.', 'ERR_SSO_STORE'))).toBe(exitCodes.store)
    jest.restoreAllMocks()
    Object.assign(process.stderr, { columns: real })
    const told = count === 1 ? [words.join(' ')] : words
    expect(written).toEqual([`owner-sso: ${[...told, 'Do it.'].join(`\n${' '.repeat(11)}`)}\n`])
  })

  it.each(streams)('are for a terminal: %s, wherever the other one goes', (stream) => {
    process.env = { TERM: 'xterm' }
    const [own, other] = [stream === 'stdout', stream === 'stderr']
    setTerminals(own, other)
    expect(shown(stream)).toBe(`a ${styleText('red', String.raw`b\u000a`, { stream: process[stream] })}`)
    setTerminals(other, own)
    expect(shown(stream)).toBe(plain)
  })

  it.each([
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '' }, true],
    [{ TERM: 'dumb' }, false],
    [{}, true],
  ])('with %j: %s', (variables, are) => {
    setTerminals(true, true)
    process.env = variables
    const coloured = `a ${styleText('red', String.raw`b\u000a`, { stream: process.stdout })}`
    expect(shown('stdout')).toBe(are ? coloured : plain)
  })
})

describe('somebody can be asked', () => {
  const streams = ['stdin', 'stderr'] as const
  const before = streams.map((name) => Object.getOwnPropertyDescriptor(process[name], 'isTTY'))
  afterEach(() => {
    for (const [index, name] of streams.entries())
      Object.defineProperty(process[name], 'isTTY', before[index] ?? { value: undefined, configurable: true })
  })

  it.each([
    [true, true, true, true],
    [false, true, true, false],
    [true, false, true, false],
    [true, true, false, false],
    [true, false, false, false],
    [false, false, true, false],
  ])('where it is allowed (%s), and input (%s) and questions (%s) are at a terminal: %s', (input, ...are) => {
    for (const [index, name] of streams.entries())
      Object.defineProperty(process[name], 'isTTY', { value: are[index], configurable: true })
    expect(canAsk({ input })).toBe(are[2])
  })
})

it.each(Object.entries({ bash, fish, zsh }))(
  'the completion of %s is what the last release had: a change of it is one for its users',
  (_, script) => expect(script()).toMatchSnapshot(),
)

it('what can be completed is what the table of commands has', () => {
  expect(fileFlags.toSorted()).toEqual([
    '--alert-command',
    '--audit',
    '--ca',
    '--clients',
    '--credential-file',
    '--file',
    '--socket',
    '--tls-cert',
    '--tls-key',
    '--totp-secret-file',
  ])
  expect(flagsOf('logout')).toEqual(flagsOf('').slice(0, -1))
  expect(flagsOf('refuel')).toEqual(flagsOf('logout'))
  expect(flagsOf('').slice(-2)).toEqual(['--help', '--version'])
  expect(flagsOf('').slice(0, -2)).toEqual(globalOptions.map(([flags]) => flags.split(' ')[0]))
  const [own] = commandTable.find(({ name }) => name === 'doctor')?.options ?? []
  expect(flagsOf('doctor')[0]).toBe(own?.[0])
  expect(quoted("the owner's")).toBe("'the owner’s'")
})
