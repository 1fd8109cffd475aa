/** What the command says, and how it ends. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createHttpServer } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { runRecorder } from '../src/command.ts'

describe('the command', () => {
  let folder = ''
  let printed: string[] = []
  let signals: Record<string, () => void> = {}
  const print = (...words: unknown[]): true => {
    printed.push(words.join(' '))
    return true
  }
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'command-'))
    printed = []
    signals = {}
    jest.spyOn(console, 'log').mockImplementation((...words) => void print(...words))
    jest.spyOn(console, 'error').mockImplementation((...words) => void print('error:', ...words))
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => print(text))
    jest.spyOn(process, 'once').mockImplementation((name, listener) => {
      signals[String(name)] = () => listener()
      return process
    })
  })
  afterEach(async () => {
    jest.restoreAllMocks()
    process.exitCode = undefined
    await rm(folder, { recursive: true })
  })

  /** What was printed, without what differs each time. */
  const shown = (): string[] =>
    printed.splice(0).map((text) => text.replaceAll(folder, 'FOLDER').replaceAll(/(?<=\d|localhost):\d+/gu, ':PORT'))

  it.each<[string[], number | undefined]>([
    [['--help'], undefined],
    [['--version'], undefined],
    [['record', '--help'], undefined],
    [['replay', '--help'], undefined],
    [['replay', 'none.json', '--help'], undefined],
    [[], 2],
    [['record'], 2],
    [['record', '--upstream', 'http://auth.example.com'], 2],
    [['record', '--upstream', 'https://a.example', '--regional-upstream', 'http://b.example'], 2],
    [['record', '--upstream', 'https://a.example', '--transport', 'quic'], 2],
    [['record', '--upstream', 'https://a.example', '--fixture', 'none/login.json'], 2],
    [['record', '--upstream', 'https://a.example', '--port', '65536'], 2],
    [['record', '--upstream', 'http://a.example', '--port', '65535'], 2],
    [['replay', 'no Option a.json'], 2],
    [['record', '--upstream', 'https://a.example', '--port', '000080'], 2],
    [['record', '--upstream', 'https://a.example', '--port', 'x80'], 2],
    [['record', '--upstream', 'https://a.example', '--port', '80x'], 2],
    [['replay'], 2],
    [['replay', 'one.json', 'other.json'], 2],
  ])('says %j what it said in the last release', async (args, exitCode) => {
    await runRecorder(args)
    const [before, after] = [process.cwd(), 'HERE']
    const said = shown().map((text) => text.replaceAll(before, after))
    expect([process.exitCode, args.includes('--version') ? said.length : said]).toMatchSnapshot()
    expect(process.exitCode).toBe(exitCode)
  })

  it.each([
    ['listen', 'EADDRINUSE', 'Port 80 is taken. Choose another --port, or leave it out for any free one.'],
    [
      'listen',
      'EACCES',
      "Port 80 can't be listened on (EACCES). Choose another --port, or leave it out for any free one.",
    ],
    ['open', 'EACCES', "login.json can't be read (EACCES)."],
  ])('says of a failed %s (%s): %s', async (syscall, code, sentence) => {
    const place = syscall === 'listen' ? { port: 80 } : { path: 'login.json' }
    jest.spyOn(Server.prototype, 'listen').mockImplementation(() => {
      throw Object.assign(new Error(code), { syscall, code, ...place })
    })
    await runRecorder(['record', '--upstream', 'https://a.example', '--fixture', join(folder, 'login.json')])
    expect([printed, process.exitCode]).toEqual([[`error: @owner-sso/recorder: ${sentence}`], 2])
  })

  it('records until it is told to end, and replays what it has recorded', async () => {
    let arrived: () => void = () => undefined
    const service = createHttpServer((request, response) =>
      request.url === '/never' ? arrived() : response.end('Sign in'),
    ).listen(0, '127.0.0.1')
    await once(service, 'listening')
    const upstream = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    const fixture = join(folder, 'login.json')
    const addressIn = (): string => /http:\/\/127\S+/u.exec(printed.join())?.[0] ?? ''
    const isOver = async (address: string): Promise<void> => {
      const isThere = (): Promise<boolean> =>
        fetch(address).then(
          () => true,
          () => false,
        )
      while (await isThere()) await new Promise(setImmediate)
    }
    const ended = async (signal: string): Promise<void> => {
      const count = printed.length
      signals[signal]?.()
      while (printed.length === count) await new Promise(setImmediate)
    }
    const said = async (lines: number): Promise<void> => {
      while (printed.filter((line) => line.includes(' of 2: ')).length < lines) await new Promise(setImmediate)
    }
    const record = ['record', '--upstream', upstream, '--fixture', fixture]
    await runRecorder([...record, '--port', '0', '--regional-upstream', 'http://localhost:9', '--transport', 'modern'])
    expect(Object.keys(signals)).toEqual(['SIGINT', 'SIGTERM'])
    await ended('SIGINT')
    expect(shown()).toMatchSnapshot('nothing')
    await runRecorder(record)
    for (const path of ['/a', '/b']) await (await fetch(`${addressIn()}${path}`)).text()
    await ended('SIGTERM')
    expect(shown()).toMatchSnapshot('two exchanges')
    // What is under way when it ends is an exchange as well.
    await runRecorder(['record', '--upstream', upstream, '--fixture', join(folder, 'other.json')])
    const recording = addressIn()
    const isAsked = new Promise<void>((resolve) => (arrived = resolve))
    void fetch(`${recording}/never`).catch(() => undefined)
    await isAsked
    signals['SIGINT']?.()
    while (!printed.some((line) => line.includes(' exchanges in '))) await new Promise(setImmediate)
    await isOver(recording)
    expect(shown().slice(1)).toEqual(['  GET /never → none', '\n1 exchanges in FOLDER/other.json'])

    await runRecorder(['replay', fixture, '--once', '--port', '0'])
    const complete = addressIn()
    for (const path of ['/a', '/b']) await (await fetch(`${complete}${path}`)).text()
    await said(2)
    await isOver(complete)
    expect([process.exitCode, shown()]).toMatchSnapshot('replayed')
    await runRecorder(['replay', fixture, '--once'])
    await (await fetch(`${addressIn()}/b`)).text()
    while (process.exitCode === undefined) await new Promise(setImmediate)
    expect([process.exitCode, shown()]).toMatchSnapshot('another request')
    process.exitCode = undefined
    const { port } = service.address() as AddressInfo
    await runRecorder(['replay', fixture, '--port', `${port}`])
    expect(printed.splice(0).join()).toMatch(new RegExp(`\\b${port}\\b`, 'u'))
    process.exitCode = undefined
    await runRecorder(['replay', fixture])
    const lasting = addressIn()
    for (const path of ['/a', '/b', '/a']) await (await fetch(`${lasting}${path}`)).text()
    await said(3)
    signals['SIGINT']?.()
    await isOver(lasting)
    expect([process.exitCode, shown()]).toMatchSnapshot('replayed until it is told to end')

    service.closeAllConnections()
    await new Promise((resolve) => service.close(resolve))
  })
})
