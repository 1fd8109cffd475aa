#!/usr/bin/env node
/**
 * The command: `npx @owner-sso/recorder record` and `npx @owner-sso/recorder replay`: a login that broke, written down without a secret,
 * and broken again.
 */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { version } from './version.ts'
import { transportNamed } from './recorder/upstream-tls.ts'
import { startRecorder } from './recorder/recorder.ts'
import { startReplay } from './replay/replay.ts'

const recordHelp = `Usage: npx @owner-sso/recorder record --upstream <url> [options]

Passes a login through to a real service and writes down what passed, with every secret replaced by a placeholder.

  --upstream <url>            base address of the service
  --regional-upstream <url>   that of the other region's instance, for an account that is sent there
  --upstream-ca <file>        certificate authority of the service (PEM), where it is a private one
  --transport <name>          document (TLS 1.2, the default) or modern (TLS 1.3)
  --fixture <file>            where the recording goes (default: login-recording.json); it must not exist yet
  --port <n>                  port to listen on (default: any free one)
  --help

Point your program at the address that it prints, sign in once, and end it with Ctrl-C. Each request goes to the service
once, as it came, over HTTP/1.1; nothing is followed or repeated.

Example:
  npx @owner-sso/recorder record --upstream https://auth.example.com --fixture broken-login.json
`

const replayHelp = `Usage: npx @owner-sso/recorder replay <fixture> [options]

Answers from a recorded login.

  --port <n>   port to listen on (default: any free one)
  --once       end after the last answer (status 0), or the first request that does not fit (status 1)
  --help

Sign in with any e-mail, password and passcode: placeholders stand for whatever your program sends. A request that was
not recorded is answered with 409 and what was expected.

Example:
  npx @owner-sso/recorder replay broken-login.json --port 9000
`

const help = `npx @owner-sso/recorder record: writes a login at a real service down, without a secret (record --help)
npx @owner-sso/recorder replay: answers from a recorded login (replay --help)

Other
  --help, --version

Examples:
  npx @owner-sso/recorder record --upstream https://auth.example.com --fixture broken-login.json
  npx @owner-sso/recorder replay broken-login.json --port 9000
`

// A login goes on where nobody reads what is printed (`| head`).
process.stdout.on('error', () => undefined)

try {
  await run(process.argv.slice(2))
} catch (error) {
  console.error(`@owner-sso/recorder: ${explain(error)}`)
  if (error instanceof TypeError) console.error('npx @owner-sso/recorder --help says what it takes.')
  // What keeps it from starting is in how it was called.
  process.exitCode = 2
}

async function run([command, ...args]: readonly string[]): Promise<void> {
  if (command === 'record') return record(args)
  if (command === 'replay') return replay(args)
  const { values } = parseArgs({
    args: command === undefined ? [] : [command, ...args],
    options: { help: { type: 'boolean' }, version: { type: 'boolean' } },
  })
  if (values.version) return console.log(version)
  if (!values.help) throw new TypeError('A command is needed: record or replay')
  process.stdout.write(help)
}

/** A sentence for people: what is wrong, and what to do about it. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { syscall, code, port, path }: NodeJS.ErrnoException & { port?: number } = error
  if (syscall === 'listen') {
    const problem = code === 'EADDRINUSE' ? `Port ${port} is taken` : `Port ${port} can't be listened on (${code})`
    return `${problem}. Choose another --port, or leave it out for any free one.`
  }
  if (path !== undefined) return `${path} can't be read (${code}).`
  const option = /^(?:Unknown option|Option) (\w+)/u.exec(error.message)?.[1]
  return option === undefined ? error.message : error.message.replace(option, flagOf(option))
}

/** An option's name in a message, as the flag that the reader typed. */
function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`
}

async function record(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      upstream: { type: 'string' },
      'regional-upstream': { type: 'string' },
      'upstream-ca': { type: 'string' },
      transport: { type: 'string' },
      fixture: { type: 'string', default: 'login-recording.json' },
      port: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) return void process.stdout.write(recordHelp)
  const { upstream, fixture, 'regional-upstream': regionalUpstream, 'upstream-ca': caFile } = values
  if (upstream === undefined) throw new TypeError('Option upstream is missing: the address of the service')
  const recorder = await startRecorder({
    upstream,
    fixture,
    ...(regionalUpstream !== undefined && { regionalUpstream }),
    ...(caFile !== undefined && { upstreamCa: await readFile(caFile, 'utf8') }),
    ...(values.transport !== undefined && { transport: transportNamed(values.transport) }),
    ...portOf(values.port),
    onExchange: (line) => console.log(`  ${line}`),
  })
  onSignal(async () => {
    await recorder.close()
    const count = recorder.fixture.exchanges.length
    console.log(count === 0 ? '\nNothing was recorded.' : `\n${count} exchanges in ${fixture}`)
  })
  console.log(`
  ${'point your program at'.padEnd(24)}${recorder.authUrl}
  ${'other region'.padEnd(24)}${regionalUpstream === undefined ? 'none: see --regional-upstream' : recorder.regionalAuthUrl}
  ${'recording'.padEnd(24)}${fixture} (no secret in it; only you can read it)

  Sign in once. Ctrl-C ends the recording.
`)
}

async function replay(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { port: { type: 'string' }, once: { type: 'boolean' }, help: { type: 'boolean' } },
  })
  if (values.help) return void process.stdout.write(replayHelp)
  const [fixture, ...more] = positionals
  if (fixture === undefined || more.length > 0)
    throw new TypeError('One recording is needed: npx @owner-sso/recorder replay FILE')
  const server = await startReplay(fixture, {
    ...portOf(values.port),
    onExchange(line) {
      console.log(`  ${line}`)
      if (values.once && (server.isComplete || server.mismatches.length > 0)) void end()
    },
  })
  const end = async (): Promise<void> => {
    await server.close()
    if (server.mismatches.length > 0) process.exitCode = 1
  }
  onSignal(end)
  console.log(`
  ${'point your program at'.padEnd(24)}${server.authUrl}
  ${'other region'.padEnd(24)}${server.regionalAuthUrl}

  Sign in with any e-mail, password and passcode. Ctrl-C ends the replay.
`)
}

function portOf(port: string | undefined): { readonly port?: number } {
  if (port === undefined) return {}
  if (!/^\d{1,5}$/u.test(port) || Number(port) > 65_535) throw new TypeError('Option port must be a port number')
  return { port: Number(port) }
}

function onSignal(end: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end())
}
