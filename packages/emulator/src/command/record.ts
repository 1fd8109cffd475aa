/**
 * `npx @owner-sso/emulator record` and `replay`: a login that broke, written down without a secret, and broken again.
 */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { startRecorder, type RecorderOptions } from '../recorder/recorder.ts'
import { startReplay } from '../recorder/replay.ts'

const recordHelp = `Usage: npx @owner-sso/emulator record --upstream <url> [options]

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
  npx @owner-sso/emulator record --upstream https://auth.example.com --fixture broken-login.json
`

const replayHelp = `Usage: npx @owner-sso/emulator replay <fixture> [options]

Answers from a recorded login.

  --port <n>   port to listen on (default: any free one)
  --help

Sign in with any e-mail, password and passcode: placeholders stand for whatever your program sends. A request that was
not recorded is answered with 409 and what was expected.

Example:
  npx @owner-sso/emulator replay broken-login.json --port 9000
`

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

export async function record(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      upstream: text,
      'regional-upstream': text,
      'upstream-ca': text,
      transport: text,
      fixture: { ...text, default: 'login-recording.json' },
      port: text,
      help: flag,
    },
  })
  if (values.help) return void process.stdout.write(recordHelp)
  const { upstream, fixture, transport, 'regional-upstream': regionalUpstream, 'upstream-ca': caFile } = values
  if (upstream === undefined) throw new TypeError('Option upstream is missing: the address of the service')
  const recorder = await startRecorder({
    upstream,
    fixture,
    ...(regionalUpstream !== undefined && { regionalUpstream }),
    ...(caFile !== undefined && { upstreamCa: await certificateIn(caFile) }),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- startRecorder checks it
    ...(transport !== undefined && { transport: transport as NonNullable<RecorderOptions['transport']> }),
    ...portOf(values.port),
    onExchange: printLine,
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

export async function replay(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { port: text, help: flag },
  })
  if (values.help) return void process.stdout.write(replayHelp)
  const [fixture, ...more] = positionals
  if (fixture === undefined || more.length > 0)
    throw new TypeError('One recording is needed: npx @owner-sso/emulator replay FILE')
  const server = await startReplay(fixture, { ...portOf(values.port), onExchange: printLine })
  onSignal(() => server.close())
  console.log(`
  ${'point your program at'.padEnd(24)}${server.authUrl}
  ${'other region'.padEnd(24)}${server.regionalAuthUrl}

  Sign in with any e-mail, password and passcode. Ctrl-C ends the replay.
`)
}

async function certificateIn(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} can't be read (${error.code}).`)
  })
}

function printLine(line: string): void {
  console.log(`  ${line}`)
}

function portOf(port: string | undefined): { readonly port?: number } {
  if (port === undefined) return {}
  if (!/^\d{1,5}$/u.test(port) || Number(port) > 65_535) throw new TypeError('Option port must be a port number')
  return { port: Number(port) }
}

function onSignal(end: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end())
}
