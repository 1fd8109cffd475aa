import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { useEmulator } from '../../src/jest.ts'
import { Client, demoCredential } from '../client.ts'

const command = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const emulator = useEmulator({ tls: true })
let folder: string
let children: ChildProcess[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'command-'))
  children = []
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await rm(folder, { recursive: true })
})

interface Running {
  readonly child: ChildProcess
  readonly printed: () => string
  /** The text that the pattern found, once it was printed. */
  readonly prints: (pattern: RegExp) => Promise<string>
  readonly ended: Promise<unknown[]>
}

function run(...args: readonly string[]): Running {
  const child = spawn(process.execPath, [command, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const ended = once(child, 'close')
  return {
    child,
    printed: () => text,
    ended,
    async prints(pattern) {
      for (;;) {
        const found = pattern.exec(text)
        if (found) return found[1] ?? found[0]
        if (child.exitCode !== null) throw new Error(`It ended: ${text}`)
        await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), ended])
      }
    },
  }
}

const address = /point your program at\s+(\S+)/u

function pointedAt(authUrl: string): Client {
  return new Client({ authUrl })
}

async function recordOne(): Promise<Running> {
  await writeFile(join(folder, 'ca.pem'), emulator.ca ?? '')
  const recorder = run('record', '--upstream', emulator.authUrl, '--upstream-ca', 'ca.pem', '--fixture', 'login.json')
  await pointedAt(await recorder.prints(address)).login('plain@example.com')
  return recorder
}

describe('npx @owner-sso/emulator record', () => {
  it('writes a login down, says what passed, and keeps it on Ctrl-C and when it is killed', async () => {
    const recorder = await recordOne()
    recorder.child.kill('SIGINT')
    expect(await recorder.ended).toEqual([0, null])
    expect(recorder.printed()).toMatch(/POST \/oauth2\/v3\/token → 200[\s\S]*3 exchanges in login\.json/u)
    expect(recorder.printed()).toMatch(
      /\n {2}point your program at {3}http:.*\n {2}other region {12}none: .*\n {2}recording {15}login\.json /u,
    )
    expect(recorder.printed()).not.toMatch(new RegExp(`${demoCredential}|plain@|some state`, 'u'))
    const file = join(folder, 'login.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ exchanges: { length: 3 } })

    await rm(file)
    const killed = await recordOne()
    // Nobody reads what it prints any more (`| head`): it goes on.
    killed.child.stdout?.destroy()
    await pointedAt(await killed.prints(address)).login('plain@example.com')
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ exchanges: { length: 6 } })
  })

  it.each([
    [['record'], 2, /--upstream is missing[^]*emulator record --help says/u],
    [['record', '--upstream', 'https://auth.example.com', '--port', 'x'], 2, /--port must be a port number/u],
    [
      ['record', '--upstream', 'https://auth.example.com', '--upstream-ca', 'none.pem'],
      2,
      /none\.pem can't be read \(ENOENT\)/u,
    ],
    [['rewind'], 2, /rewind/u],
    [['replay'], 2, /One recording is needed[^]*emulator replay --help says/u],
  ])('explains %j, and fails', async (args, code, message) => {
    const wrong = run(...args)
    expect(await wrong.ended).toEqual([code, null])
    expect(wrong.printed()).toMatch(message)
    expect(wrong.printed()).not.toMatch(/\n\s+at /u)
  })

  it.each(['record', 'replay'])('%s has help', async (name) => {
    const help = run(name, '--help')
    expect(await help.ended).toEqual([0, null])
    expect(help.printed()).toContain(`npx @owner-sso/emulator ${name}`)
  })
})

describe('npx @owner-sso/emulator replay', () => {
  it('answers, says of each request which it was or what was expected, and ends on Ctrl-C', async () => {
    const recorder = await recordOne()
    recorder.child.kill('SIGINT')
    await recorder.ended
    const replay = run('replay', 'login.json')
    const client = pointedAt(await replay.prints(address))
    expect((await client.exchange('c')).status).toBe(409)
    expect((await client.login('ann@example.com'))['token_type']).toBe('Bearer')
    await replay.prints(/Exchange 1 of 3: GET \/oauth2\/v3\/authorize was recorded/u)
    await replay.prints(/3 of 3: POST \/oauth2\/v3\/token → 200/u)
    replay.child.kill('SIGINT')
    expect(await replay.ended).toEqual([0, null])
  })
})
