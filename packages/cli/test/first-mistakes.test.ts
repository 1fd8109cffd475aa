/**
 * A person makes the mistakes of the first minutes and does what each message says. What is typed and printed is
 * docs/internals/first-mistakes.md; with `WRITE_WALK=1` this test writes it.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { useEmulator } from '@owner-sso/emulator/jest'
import { expect, it } from '@jest/globals'
import { codeBlocksOf } from '../../../tests/support/code-blocks.ts'
import { freePort } from '../../../tests/support/free-port.ts'
import { ended, useMachine } from './machine.ts'
import { describeInTerminal, enter, inTerminal } from './terminal.ts'

const page = new URL('../../../docs/internals/first-mistakes.md', import.meta.url)
const emulator = useEmulator()
const machine = useMachine(emulator)

/** What the person has not set yet. */
const unset = { OWNER_SSO_AUTH_URL: '', OWNER_SSO_REGIONAL_AUTH_URLS: '', OWNER_SSO_API_URL: '' }

describeInTerminal('the first minutes', () => {
  it('after each mistake, the message says the next right step, as the page shows', async () => {
    const walk = [
      '# The first mistakes',
      'A person makes every mistake of the first minutes. After each, the next right step is in the message. A test types it\n' +
        'all, with the packed command: `packages/cli/test/first-mistakes.test.ts`.',
    ]
    const chapter = async (title: string, steps: readonly (() => Promise<string>)[]): Promise<void> => {
      const shown: string[] = []
      for (const step of steps) shown.push((await step()).trimEnd())
      walk.push(`## ${title}`, ['```console', ...shown, '```'].join('\n'))
    }

    await chapter('Nothing is set', [
      () => program('first.mjs', 'cli', codeBlocksOf('README.md')[0]?.code ?? '', {}),
      () => types('owner-sso login', unset),
    ])
    await chapter('An address that is none, and one where nobody answers', [setUp])
    await chapter('The wrong store', [
      () => types('owner-sso --store file:typo status'),
      () => types('owner-sso --store file:http://x status'),
    ])
    await chapter('A window, where there is no screen', [pasted])
    await chapter('The same advice, where somebody looks for it', [
      () => types('owner-sso doctor | grep -A1 encryption'),
    ])

    mkdirSync(join(machine.home, 'clients'))
    machine.file('broken.json', '{\n  "refresh_token": "…"\n  "expires_in": 300\n}')
    machine.file('empty.json', '{ "ann@example.com": { "access_token": "…" } }')
    const { refresh_token } = await emulator.issueTokens('mfa@example.com')
    machine.file('tokens.json', JSON.stringify({ refresh_token }))
    await chapter('Tokens of another program', [
      () => types('owner-sso import clients'),
      () => types('owner-sso import broken.json'),
      () => types('owner-sso import empty.json'),
      () => types('owner-sso import tokens.json'),
      () => types('owner-sso import tokens.json --account mfa@example.com'),
      () => types('owner-sso import tokens.json --account mfa@example.com --yes'),
      () => types('owner-sso import tokens.json --account ann@example.com --yes'),
    ])
    await chapter('A word that is none, and an account that is none', [
      () => types('owner-sso stattus'),
      () => types('owner-sso token'),
      () => types('owner-sso token --account anne@example.com'),
    ])
    await chapter('The address of the owner API', [
      () => types('owner-sso proxy --account plain@example.com', { OWNER_SSO_API_URL: '' }),
      () => program('mounted.mjs', 'express', mounted, { OWNER_SSO_AUTH_URL: emulator.authUrl }),
      () => program('mounted.mjs', 'express', mounted),
    ])
    await chapter('A broker, opened in a browser', [broker])

    const text = `${walk.join('\n\n')}\n`
    if (process.env['WRITE_WALK']) writeFileSync(page, text)
    expect(readFileSync(page, 'utf8')).toBe(text)
  }, 60_000)
})

/** A call of the command. What stands behind a pipe picks lines of what it prints. */
async function types(line: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const [typed = '', filter = ''] = line.split(' | ')
  const { stdout, stderr } = await machine.run(typed.split(' ').slice(1), { env })
  const lines = (stderr + stdout).split('\n')
  const [, after] = /^grep -A1 (\w+)$/u.exec(filter) ?? []
  const from = after === undefined ? 0 : lines.findIndex((each) => each.includes(after))
  const count = after === undefined ? Number(/^head -(\d+)$/u.exec(filter)?.[1] ?? lines.length) : 2
  return shownAs(line, lines.slice(from, from + count).join('\n'))
}

/** A program, run where the packages are found that it imports: in the folder of one that has them. */
async function program(
  name: string,
  home: string,
  code: string,
  env: NodeJS.ProcessEnv = machine.env,
): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: fileURLToPath(new URL(`../../${home}`, import.meta.url)),
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { stdout, stderr } = await ended(machine.own(child))
  return shownAs(`node ${name}`, /^\w*Error: .*/mu.exec(stderr)?.[0] ?? stdout)
}

/** The proxy at `/api`, and the calls of a page: the one that looks right, and the one that the answer names. */
const mounted = `
  import { once } from 'node:events'
  import { createSso, createTokenManager } from '@owner-sso/core'
  import { ownerApiProxy } from '@owner-sso/express'
  import { memoryTokenStore } from '@owner-sso/token-store-memory'
  import express from 'express'

  const tokens = createTokenManager({ issuer: createSso({ authUrl: process.env.OWNER_SSO_AUTH_URL }), store: memoryTokenStore() })
  const app = express().use('/api', ownerApiProxy({ tokens, account: () => 'ann@example.com', authorize: () => true }))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  for (const path of ['/api/1/vehicles', '/api/api/1/vehicles']) {
    const answer = await fetch('http://127.0.0.1:' + server.address().port + path)
    console.log('GET ' + path + ': ' + answer.status + ' ' + (await answer.json()).detail)
  }
  server.close()`

/** In a terminal: `setup` asks again until an answer can be used. */
async function setUp(): Promise<string> {
  const terminal = inTerminal(machine, ['setup'], unset)
  const answer = async (question: string, typed: string): Promise<void> => {
    await terminal.shows(question)
    terminal.type(`\u0015${typed}${enter}`)
  }
  const address = 'Address of the SSO service'
  await answer(address, 'auth.example.com')
  // Until then it is the first question that is drawn again while its answer is typed.
  await terminal.shows('It came from your answer')
  await answer(address, 'http://127.0.0.1:1')
  await answer('Keep it all the same?', '')
  await answer(address, emulator.authUrl)
  await answer('Other instances', '')
  await answer('Address of the owner API', '')
  await answer('Where tokens live', `file:${machine.tokensFolder}`)
  await answer('E-mail of the account', '')
  await terminal.end()
  // Each question as it stands once it is answered, without what was drawn while somebody typed; and what is no success.
  const lines = terminal.screen().split(/\r?\n/u)
  const settled = lines.flatMap((line, index) => {
    const [, question] = /◇ {2}(.*)/u.exec(line) ?? []
    if (question !== undefined) return [`◇  ${question}`, lines[index + 1] ?? '']
    return /^(?:[✖•]|\s*→|Your settings|Next)/u.test(line) ? [line] : []
  })
  return shownAs('owner-sso setup', settled.join('\n'))
}

/** Signed in on any other machine, and pasted. */
async function pasted(): Promise<string> {
  // As it comes: a keyring is looked for, and there is none.
  const args = ['login', '--browser', '--account', 'plain@example.com']
  const child = machine.start(args, { input: '', env: { OWNER_SSO_KEYRING: '' } })
  let said = ''
  child.stderr?.on('data', (chunk) => (said += String(chunk)))
  const done = ended(child)
  while (!said.includes('paste it here')) await new Promise((resolve) => child.stderr?.once('data', resolve))
  const [url = ''] = /^http.*$/mu.exec(said) ?? []
  child.stdin?.end(`${await emulator.signInByHand(url)}\n`)
  await done
  return shownAs('owner-sso login --browser --account plain@example.com', said)
}

async function broker(): Promise<string> {
  const port = await freePort()
  const child = machine.start(['broker', '--port', String(port)])
  let said = ''
  child.stderr?.on('data', (chunk) => (said += String(chunk)))
  while (!said.includes('Ctrl-C')) await new Promise((resolve) => child.stderr?.once('data', resolve))
  const { headers } = await fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual', headers: { accept: 'text/html' } })
  const [start, look] = [
    shownAs('owner-sso broker --port 8700', said),
    shownAs('curl --head http://127.0.0.1:8700/', `location: ${headers.get('location')}`),
  ]
  return `${start}\n${look}`.replaceAll(`:${port}`, ':8700')
}

/** What was typed, and what was printed, without what is another at each run. */
function shownAs(typed: string, printed: string): string {
  const [service, ownerApi] = [emulator.authUrl, emulator.ownerApiUrl].map((url) => new URL(url).host)
  return `$ ${typed}\n${printed.trimEnd()}`
    .replaceAll(machine.home, '/home/ann')
    .replaceAll(service ?? '', '127.0.0.1:9000')
    .replaceAll(ownerApi ?? '', '127.0.0.1:9001')
    .replaceAll(encodeURIComponent(service ?? ''), '127.0.0.1%3A9000')
    .replaceAll(/(code_challenge|state)=[\w-]+/gu, '$1=…')
    .replaceAll(/valid for \d+ h \d+ min/gu, 'valid for … h')
}
