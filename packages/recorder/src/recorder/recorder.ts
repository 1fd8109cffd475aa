/**
 * `startRecorder`: stands between a client and the service, passes everything through, and writes down what passed, masked.
 */
import { access, constants } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname, resolve } from 'node:path'
import { baseAddress, swapped, type Swap } from './addresses.ts'
import { clientResponse, swappedBody } from './client-response.ts'
import type { SeenResponse, SeenRequest } from '../masking/exchange-mask.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { checkNames } from '../known-names.ts'
import { listenOnLoopback } from '../listener.ts'
import { ownAddresses, readBody, sendPlain, type OwnAddresses } from '../loopback.ts'
import type { Recording } from './recording.ts'
import { createUpstream, headerPairs, type Upstream } from './upstream.ts'
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

  // Loaded once it is needed: parsing pages is the slowest import of all.
  const { createRecording } = await import('./recording.ts')
  const listener = await listenOnLoopback(options.port)
  const { addresses, instanceOf } = ownAddresses(listener.port)
  const tell = (line: string): void => options.onExchange?.(line)
  const upstream = createUpstream(tls)
  const recording = createRecording(
    Object.entries(addresses).map(([name, address]) => [address, name] as const),
    file,
    tell,
  )
  const pass = passing({
    instanceOf,
    bases: { home, regional },
    swaps: [[addresses.home, home], ...(regional === undefined ? [] : [[addresses.regional, regional] as const])],
    upstream,
    recording,
    tell,
  })

  const underWay = new Set<Promise<void>>()
  listener.serve((request, response) => {
    const passed = pass(request, response).catch((error: unknown) => {
      tell(`not recorded: ${String(error)}`)
      sendPlain(response, 500, 'The recorder failed; what it printed says why.')
    })
    underWay.add(passed)
    void passed.finally(() => underWay.delete(passed))
  })
  const close = async (): Promise<void> => {
    await Promise.all([listener.close(), ...underWay])
    upstream.close()
  }
  return {
    authUrl: addresses.home,
    regionalAuthUrl: addresses.regional,
    get fixture() {
      return recording.fixture()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Passage {
  readonly instanceOf: OwnAddresses['instanceOf']
  readonly bases: { readonly home: string; readonly regional: string | undefined }
  readonly swaps: readonly Swap[]
  readonly upstream: Upstream
  readonly recording: Recording
  readonly tell: (line: string) => void
}

/** Passes a request on, writes down what came of it, and answers. */
function passing({
  instanceOf,
  bases,
  swaps,
  upstream,
  recording,
  tell,
}: Passage): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  /** Redirect URIs that the client named and that are not the recorder's: the service's redirects to them stay as they are. */
  const foreign = new Set<string>()
  return async (request, response) => {
    const instance = instanceOf(request)
    const base = instance && bases[instance]
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

    const outcome = await upstream.send({
      url: base + swapped(seen.url, swaps),
      method: seen.method,
      headers: seen.headers.map(([name, value]) => [name, swapped(value, swaps)] as const),
      body: swappedBody(body, swaps),
      connection: request.socket,
      signal: goneSignal(response),
    })
    if (outcome.kind === 'unreachable') {
      tell(`${seen.method} ${instance}: the service can't be reached (${outcome.reason}); nothing was recorded`)
      return sendPlain(response, 502, `The recorder can't reach the service: ${outcome.reason}`)
    }
    const answer = outcome.kind === 'answer' ? clientResponse(outcome.answer, swaps, foreign) : undefined
    await recording.keep(seen, answer, outcome.kind === 'cut' ? 'cut' : 'none')
    if (answer) send(response, answer)
    else response.destroy()
  }
}

/** Aborted once nobody waits for the response any more. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
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
