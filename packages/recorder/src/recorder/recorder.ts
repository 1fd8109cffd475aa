/**
 * `startRecorder`: stands between a client and the service, passes everything through, and writes down what passed, masked.
 */
import { access, constants } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname, resolve } from 'node:path'
import { baseAddress, swapped, type Swap } from './addresses.ts'
import { clientResponse, swappedBody } from './client-response.ts'
import type { SeenResponse, SeenRequest } from '../masking/exchange-mask.ts'
import { format } from '../fixture/fixture-checks.ts'
import { writeFixture, type Fixture, type RecordedExchange } from '../fixture/fixture.ts'
import { createPseudonyms } from '../masking/pseudonyms.ts'
import { checkNames } from '../known-names.ts'
import { listenOnLoopback } from '../listener.ts'
import { ownAddresses, readBody, sendPlain } from '../loopback.ts'
import { createUpstream, headerPairs, type UpstreamOutcome } from './upstream.ts'
import { upstreamTls, type UpstreamTransport } from './upstream-tls.ts'

/** Which service is recorded, and where to. */
export interface RecorderOptions {
  /** Base address of the service: https, or http on this machine. */
  readonly upstream: string
  /** That of the instance of the other region; without it a login that is sent there leaves the recorder. */
  readonly regionalUpstream?: string
  /** PEM of the authority that the service's certificate comes from, where it is a private one. */
  readonly upstreamCa?: string
  /** How TLS is spoken with the service; default `document`: 1.2. */
  readonly transport?: UpstreamTransport
  /** File that the recording is written to after each exchange; it must not exist yet. */
  readonly fixture?: string
  /** Default any free one. */
  readonly port?: number
  /** Told of each exchange, in words without a secret. */
  readonly onExchange?: (line: string) => void
}

const optionNames: readonly (keyof RecorderOptions)[] = [
  'upstream',
  'regionalUpstream',
  'upstreamCa',
  'transport',
  'fixture',
  'port',
  'onExchange',
]

/** A running recorder: clients speak to it as to the service. */
export interface Recorder extends AsyncDisposable {
  /** What the client under test is given in place of the service's addresses. */
  readonly authUrl: string
  readonly regionalAuthUrl: string
  /** What passed so far. */
  readonly fixture: Fixture
  /** Ends every connection, and resolves when what passed is written. */
  close(): Promise<void>
}

/** Enough for any login; a poller left running does not fill the disk. */
const maxExchanges = 1000

/**
 * Starts recording on loopback.
 *
 * @throws {TypeError} An option is wrong; the message names it.
 * @throws {Error} The fixture exists or can't be written there, or the port is taken.
 */
export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  if (typeof options !== 'object' || options === null) throw new TypeError('Option upstream is missing')
  checkNames('option', '', options, optionNames)
  const home = baseAddress('upstream', options.upstream)
  const regional =
    options.regionalUpstream === undefined ? undefined : baseAddress('regionalUpstream', options.regionalUpstream)
  if (regional === home) throw new TypeError('Option regionalUpstream must be another address than upstream')
  const tls = upstreamTls(options.transport, options.upstreamCa)
  const file = options.fixture === undefined ? undefined : resolve(options.fixture)
  if (file !== undefined) await checkTarget(file)

  const { maskResponse, maskRequest } = await import('../masking/exchange-mask.ts')
  const listener = await listenOnLoopback(options.port)
  const { addresses, instanceOf } = ownAddresses(listener.port)
  const swaps: readonly Swap[] = [
    [addresses.home, home],
    ...(regional === undefined ? [] : [[addresses.regional, regional] as const]),
  ]
  const upstream = createUpstream(tls)
  const pseudonyms = createPseudonyms()
  const exchanges: RecordedExchange[] = []
  /** Redirect URIs that the client named and that are not the recorder's: the service's redirects to them stay as they are. */
  const foreign = new Set<string>()
  let written: Promise<void> = Promise.resolve()

  const named = Object.entries(addresses).map(([name, address]) => [address, name] as const)
  const fixture = (): Fixture => ({ format: format, version: 1, placeholders: { ...pseudonyms.shapes() }, exchanges })

  async function keep(seen: SeenRequest, outcome: UpstreamOutcome, answer: SeenResponse | undefined): Promise<void> {
    if (exchanges.length >= maxExchanges) {
      options.onExchange?.(`passed on, but no longer recorded: a recording has at most ${maxExchanges} exchanges`)
      return
    }
    const request = maskRequest({ pseudonyms, from: 'client', addresses: named }, seen)
    const recorded = answer && maskResponse({ pseudonyms, from: 'service', addresses: named }, answer)
    exchanges.push({ request, answer: recorded ?? (outcome.kind === 'cut' ? 'cut' : 'none') })
    options.onExchange?.(`${request.method} ${request.path} → ${String(recorded?.status ?? outcome.kind)}`)
    if (file === undefined) return
    // One that failed leaves the next its turn: that has all exchanges in it.
    written = written.catch(() => undefined).then(() => writeFixture(file, fixture()))
    await written
  }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const instance = instanceOf(request)
    const base = instance === 'regional' ? regional : home
    if (instance === undefined || base === undefined) {
      return sendPlain(response, 421, 'The recorder has no service for this address: see --regional-upstream.')
    }
    const body = await readBody(request)
    if (!body) return sendPlain(response, 413, 'The recorder passes on bodies of up to 1 MiB.')
    const seen: SeenRequest = {
      instance,
      method: request.method ?? 'GET',
      url: request.url ?? '/',
      headers: headerPairs(request.rawHeaders),
      body,
    }
    const redirectUri = new URLSearchParams(seen.url.split('?')[1]).get('redirect_uri') ?? ''
    if (redirectUri !== '' && swapped(redirectUri, swaps) === redirectUri) foreign.add(redirectUri)

    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const outcome = await upstream.send({
      url: base + swapped(seen.url, swaps),
      method: seen.method,
      headers: seen.headers.map(([name, value]) => [name, swapped(value, swaps)] as const),
      body: swappedBody(body, swaps),
      connection: request.socket,
      signal: gone.signal,
    })
    if (outcome.kind === 'unreachable') {
      options.onExchange?.(
        `${seen.method} ${instance}: the service can't be reached (${outcome.reason}); nothing was recorded`,
      )
      return sendPlain(response, 502, `The recorder can't reach the service: ${outcome.reason}`)
    }
    const answer = outcome.kind === 'answer' ? clientResponse(outcome.answer, swaps, foreign) : undefined
    await keep(seen, outcome, answer)
    if (answer) send(response, answer)
    else response.destroy()
  }

  const underWay = new Set<Promise<void>>()
  listener.serve((request, response) => {
    const passing = pass(request, response).catch((error: unknown) => {
      options.onExchange?.(`not recorded: ${String(error)}`)
      sendPlain(response, 500, 'The recorder failed; what it printed says why.')
    })
    underWay.add(passing)
    void passing.finally(() => underWay.delete(passing))
  })
  const close = async (): Promise<void> => {
    await Promise.all([listener.close(), ...underWay])
    upstream.close()
  }
  return {
    authUrl: addresses.home,
    regionalAuthUrl: addresses.regional,
    get fixture() {
      return fixture()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function send(response: ServerResponse, { status, headers, body }: SeenResponse): void {
  const sent = headers.flatMap(([name, value]) => [name, value])
  response.writeHead(status, [...sent, 'Content-Length', String(body.length)]).end(body)
}

/** Found out before a login is spent on it. */
async function checkTarget(file: string): Promise<void> {
  const exists = await access(file).then(
    () => true,
    () => false,
  )
  if (exists) throw new Error(`${file} exists already: give another name with --fixture, or remove it`)
  await access(dirname(file), constants.W_OK).catch(() => {
    throw new Error(`${dirname(file)} is not a folder that can be written to`)
  })
}
