import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTokenManager } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { describe, expect, it } from '@jest/globals'
import { shellWord } from '../../../tests/support/shell-word.ts'
import { command, useMachine, until } from './machine.ts'
import { describeInTerminal, enter, programInTerminal, type Terminal } from './terminal.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)

const tab = '\t'

/** Interactive, without anything of the machine's own, and with a prompt that is told from what is typed. */
const shells: Readonly<Record<string, readonly [start: readonly string[], setUp: string]>> = {
  bash: [['bash', '--norc', '--noprofile', '-i'], `PS1='ready> '; source <(owner-sso completion bash)`],
  zsh: [['zsh', '-f', '-i'], `PS1='ready> '; autoload -Uz compinit && compinit -u; source <(owner-sso completion zsh)`],
  fish: [
    ['fish', '--no-config', '-i'],
    `function fish_prompt; echo -n 'ready> '; end; owner-sso completion fish | source`,
  ],
}

/**
 * In this machine's shells `owner-sso` is the real one for completion and accounts; else it writes down how it was called,
 * each argument between angle brackets.
 */
function install(): NodeJS.ProcessEnv {
  mkdirSync(join(machine.home, 'bin'))
  const script = `#!/bin/sh
case "$1" in completion | accounts) exec ${shellWord(process.execPath)} ${shellWord(command)} "$@" ;; esac
printf '<%s>' "$@" > '${machine.home}/call.new' && mv '${machine.home}/call.new' '${machine.home}/call'
`
  chmodSync(machine.file('bin/owner-sso', script), 0o700)
  return { PATH: `${machine.home}/bin:${process.env['PATH']}`, TERM: 'xterm', LC_ALL: 'C.UTF-8' }
}

async function startShell(shell: string): Promise<Terminal> {
  const [start, setUp] = shells[shell] ?? [[shell], '']
  const terminal = programInTerminal(machine, start, install())
  terminal.type(`${setUp}${enter}`)
  await terminal.shows('ready> ')
  // Once more: what was echoed while it was typed has the prompt in it, too.
  terminal.type(`echo set-''up${enter}`)
  await terminal.shows('set-up')
  await terminal.shows('ready> ')
  return terminal
}

/** Types each part, and presses Tab where it has one, once what it completes to is on the screen; answers the call. */
async function called(terminal: Terminal, ...parts: readonly (readonly [typed: string, completed: string])[]) {
  for (const [typed, completed] of parts) {
    terminal.type(typed + tab)
    await terminal.shows(completed)
  }
  terminal.type(enter)
  const file = join(machine.home, 'call')
  await until(() => existsSync(file))
  terminal.type(`exit${enter}`)
  await terminal.end()
  return readFileSync(file, 'utf8')
}

async function keep(account: string): Promise<void> {
  const tokens = createTokenManager({ sso: { refresh: fails }, store: fileTokenStore({ path: machine.tokensFolder }) })
  const expires_at = Date.now() / 1000 + 28_800
  const { authUrl: auth_url } = emulator
  await tokens.save(account, { access_token: 'a', refresh_token: account, token_type: 'Bearer', expires_at, auth_url })
}

const fails = (): Promise<never> => Promise.reject(new Error('It is not refreshed here.'))

/** Windows has PowerShell, and this machine may not: what its script is made of. */
describe('completion in PowerShell', () => {
  it('knows each command with its options, in a script whose quotes and brackets are closed', async () => {
    const { stdout: script } = await machine.run(['completion', 'powershell'])
    const rows = new Map(
      Array.from(script.matchAll(/^ {4}(\w+) = @\((.*)\)$/gmu), ([, name = '', words = '']) => [
        name,
        words.split(', '),
      ]),
    )
    const [, list = ''] = /^Commands:\n([\s\S]*?)\n\n/mu.exec((await machine.run(['--help'])).stdout) ?? []
    const names = Array.from(list.matchAll(/^ {2}([a-z]+)/gmu), ([, name = '']) => name)
    expect([...rows.keys(), 'help']).toEqual(names)
    expect(rows.get('keep')).toEqual(expect.arrayContaining(["'--within'", "'--once'", "'--account'", "'--help'"]))
    expect(script).toMatch(/-in @\([^)]*'--credential-file'[^)]*\)\) \{ return \}/u)
    expect(script).toContain("'--account') { owner-sso accounts 2>$null }")
    // Without what stands in quotes, each bracket is closed by its own kind.
    let bare = script.replaceAll(/'(?:[^']|'')*'|"[^"]*"|^#.*$/gmu, '')
    expect(bare).not.toMatch(/['"]/u)
    for (let inner = ''; inner !== bare;)
      [inner, bare] = [bare, bare.replaceAll(/\([^()[\]{}]*\)|\[[^()[\]{}]*\]|\{[^()[\]{}]*\}/gu, '')]
    expect(bare).not.toMatch(/[()[\]{}]/u)
  })
})

describeInTerminal('completion', () => {
  for (const shell of Object.keys(shells)) {
    const isHere = spawnSync(shell, ['--version']).status === 0
    if (!isHere)
      console.warn(`Skipped: the tests of completion in ${shell}, which is missing (apt-get install ${shell}).`)
    const inShell = isHere || process.env['CI'] === 'true' ? describe : describe.skip
    inShell(`in ${shell}`, () => {
      it('completes a command, its option and an account, part of whose name was typed', async () => {
        await keep('plain@example.com')
        await keep('pleased@example.com')
        const terminal = await startShell(shell)
        const call = await called(terminal, ['owner-sso doc', 'tor'], ['--acc', 'ount'], ['plain@ex', 'ample.com'])
        expect(call).toBe('<doctor><--account><plain@example.com>')
      })

      it.each([
        ['sub:4711', 'sub:47'],
        ['a=b:c@example.com', 'a=b:c@ex'],
        ['ann+b=c@example.com', 'ann+b'],
      ])('completes %s of %s, whatever ends a word there', async (account, typed) => {
        await keep(account)
        const terminal = await startShell(shell)
        const call = await called(terminal, [`owner-sso doctor --account ${typed}`, account.slice(typed.length)])
        expect(call).toBe(`<doctor><--account><${account}>`)
      })

      it('completes the path of a file with a space in its name', async () => {
        machine.file('pass word', '')
        const terminal = await startShell(shell)
        const call = await called(terminal, ['owner-sso login --cred', 'ential-file'], ['pas', 'word'])
        expect(call).toBe('<login><--credential-file><pass word>')
      })

      it('takes the name of an account for data, on Tab and after it', async () => {
        const account = 'a`touch ran`$(touch ran);touch ran|"\'\\&*~!x@example.com'
        await keep(account)
        const terminal = await startShell(shell)
        const call = await called(terminal, ['owner-sso doctor --account ', 'example.com'])
        expect(call).toBe(`<doctor><--account><${account}>`)
        expect(readdirSync(machine.home)).not.toContain('ran')
      })
    })
  }
})
