/**
 * `startRecorder`: stands between a client and the service, passes everything through, and writes down what passed, masked.
 */
import { access, constants } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname, resolve } from 'node:path'
import { Agent } from 'node:https'
import { instanceOf, maxBodyBytes, ownAddresses, sendPlain, swapped, swappedBody, type Swap } from './addresses.ts'
import { format, writeFixture, type Fixture, type RecordedExchange } from './fixture.ts'
import { checkNames } from '../support/known-names.ts'
import { listen } from '../http/listeners.ts'
import type { SeenRequest, SeenResponse } from './masking.ts'
import { headerPairs, readUpTo, sendUpstream } from './upstream.ts'

/** Which service is recorded, and where to. */
export interface RecorderOptions {
  /** Base address of the service: https, or http on this machine. */
  readonly upstream: string
  /** That of the instance of the other region; without it a login that is sent there leaves the recorder. */
  readonly regionalUpstream?: string
  /** PEM of the authority that the service's certificate comes from, where it is a private one. */
  readonly upstreamCa?: string
  /** How TLS is spoken with the service, by core's names: `document` (default) is TLS 1.2, `modern` 1.3. */
  readonly transport?: 'document' | 'modern'
  /** File that the recording is written to after each exchange; it must not exist yet. */
  readonly fixture?: string
  /** Default any free one. */
  readonly port?: number
  /** Told of each exchange, in words without a secret. */
  readonly onExchange?: (line: string) => void
}

const optionNames = 'upstream regionalUpstream upstreamCa transport fixture port onExchange'.split(' ')
const tlsVersions = new Map<unknown, 'TLSv1.2' | 'TLSv1.3'>([
  ['document', 'TLSv1.2'],
  ['modern', 'TLSv1.3'],
])

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
  const { regionalUpstream, upstreamCa: ca, transport = 'document' } = options
  const home = baseAddress('upstream', options.upstream)
  const regional = regionalUpstream === undefined ? undefined : baseAddress('regionalUpstream', regionalUpstream)
  if (regional === home) throw new TypeError('Option regionalUpstream must be another address than upstream')
  const version = tlsVersions.get(transport)
  if (version === undefined) throw new TypeError('Option transport must be document or modern')
  const file = options.fixture === undefined ? undefined : resolve(options.fixture)
  if (file !== undefined) await checkTarget(file)

  // Loaded once it is needed: parsing pages is the slowest import of all.
  const { createMasking } = await import('./masking.ts')
  const listener = await listen({ port: options.port ?? 0 })
  const addresses = ownAddresses(listener.port)
  const agent = new Agent({ keepAlive: true, minVersion: version, maxVersion: version, ca })
  const swaps: Swap[] = [[addresses.home, home]]
  if (regional !== undefined) swaps.push([addresses.regional, regional])
  const masking = createMasking(addresses)
  const exchanges: RecordedExchange[] = []
  const fixture = (): Fixture => ({ format, version: 1, placeholders: masking.shapes(), exchanges })
  /** Redirect URIs that the client named and that are not the recorder's: the service's redirects to them stay as they are. */
  const foreign = new Set<string>()
  let written: Promise<void> = Promise.resolve()
  const tell = (line: string): void => options.onExchange?.(line)

  /** Resolves when the exchange is written: its client is answered then. */
  async function keep(seen: SeenRequest, answer: SeenResponse | 'cut' | 'none'): Promise<void> {
    if (exchanges.length >= maxExchanges)
      return tell(`passed on, but no longer recorded: a recording has at most ${maxExchanges} exchanges`)
    const request = masking.request(seen)
    const recorded = typeof answer === 'string' ? answer : masking.answer(answer)
    exchanges.push({ request, answer: recorded })
    tell(`${request.method} ${request.path} → ${typeof recorded === 'string' ? recorded : recorded.status}`)
    if (file === undefined) return
    // One that failed leaves the next its turn: that has all exchanges in it.
    written = written.catch(() => undefined).then(() => writeFixture(file, fixture()))
    await written
  }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const instance = instanceOf(request, addresses)
    const base = instance === 'regional' ? regional : home
    if (instance === undefined || base === undefined)
      return sendPlain(response, 421, 'The recorder has no service for this address: see --regional-upstream.')
    const body = await readUpTo(request, maxBodyBytes)
    if (!body) return sendPlain(response, 413, 'The recorder passes on bodies of up to 1 MiB.')
    const { method = 'GET', url = '/' } = request
    const headers = headerPairs(request.rawHeaders)
    const redirectUri = new URLSearchParams(url.split('?')[1]).get('redirect_uri') ?? ''
    if (redirectUri !== '' && swapped(redirectUri, swaps) === redirectUri) foreign.add(redirectUri)

    const outcome = await sendUpstream(agent, {
      url: base + swapped(url, swaps),
      method,
      headers: headers.map(([name, value]) => [name, swapped(value, swaps)] as const),
      body: swappedBody(body, swaps),
      signal: goneSignal(response),
    })
    if (typeof outcome === 'object' && 'unreachable' in outcome) {
      tell(`${method} ${instance}: the service can't be reached (${outcome.unreachable}); nothing was recorded`)
      return sendPlain(response, 502, `The recorder can't reach the service: ${outcome.unreachable}`)
    }
    const answer = typeof outcome === 'string' ? outcome : forClient(outcome, swaps, foreign)
    await keep({ instance, method, url, headers, body }, answer)
    if (typeof answer === 'string') response.destroy()
    else send(response, answer)
  }

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
    agent.destroy()
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

/** The base address without its trailing slash. @throws {TypeError} It is not an address that a credential may be sent to. */
function baseAddress(option: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const isLocal = url !== undefined && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(url.hostname)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)
  if (!url || !isSafe || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError(`Option ${option} must be an https address (or an http one of this machine), without a query`)
  }
  return url.href.replace(/\/+$/u, '')
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}

/** The service's answer as the client can use it: the service's addresses are the recorder's, cookies fit plain http. */
function forClient(
  { status, headers, body }: SeenResponse,
  swaps: readonly Swap[],
  foreign: ReadonlySet<string>,
): SeenResponse {
  const back = swaps.map(([ours, theirs]) => [theirs, ours] as const)
  const changed = (name: string, value: string): string => {
    if (name === 'set-cookie') return clientCookie(value)
    const kept = name === 'location' ? [...foreign].find((address) => value.startsWith(address)) : undefined
    return kept === undefined ? swapped(value, back) : kept + swapped(value.slice(kept.length), back)
  }
  const shown = headers.map(([name, value]) => [name, changed(name.toLowerCase(), value)] as const)
  return { status, headers: shown, body: swappedBody(body, back) }
}

/** Without `Domain`, and without what needs https: but for names whose prefix asks for it (RFC 6265bis section 4.1.3). */
function clientCookie(header: string): string {
  const [pair = '', ...attributes] = header.split(';')
  const isPrefixed = /^\s*__(?:Host|Secure)-/iu.test(pair)
  const dropped = isPrefixed
    ? /^\s*domain\s*=/iu
    : /^\s*(?:domain\s*=|secure\s*$|partitioned\s*$|samesite\s*=\s*none)/iu
  return [pair, ...attributes.filter((attribute) => !dropped.test(attribute))].join(';')
}

function send(response: ServerResponse, { status, headers, body }: SeenResponse): void {
  response.writeHead(status, [...headers.flat(), 'Content-Length', String(body.length)]).end(body)
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
