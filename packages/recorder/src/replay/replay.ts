/**
 * `startReplay`: answers from a recorded login, in its order, as long as the client sends what it sent then.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { differences, type ArrivedRequest } from './comparison.ts'
import { readFixture, type Fixture, type RecordedExchange } from '../fixture/fixture.ts'
import { checkNames } from '../known-names.ts'
import { banner, listenOnLoopback } from '../listener.ts'
import { ownAddresses, readBody, sendPlain } from '../loopback.ts'
import { madeUp } from '../masking/pseudonyms.ts'
import { sendRecorded } from './recorded-answer.ts'
import type { Bindings } from './template-match.ts'

/** Where a recording is replayed, and who is told. */
export interface ReplayOptions {
  /** Default any free one. */
  readonly port?: number
  /** Told of each request once it was answered, in words without a secret. */
  readonly onExchange?: (line: string) => void
}

/** A running replay: it answers as the recorded service did. */
export interface Replay extends AsyncDisposable {
  /** What the client under test is given in place of the service's addresses. */
  readonly authUrl: string
  readonly regionalAuthUrl: string
  /** Exchanges of the recording that were answered in this run of it; it starts anew with its first request. */
  readonly replayed: number
  /** The last one was answered. */
  readonly isComplete: boolean
  /** What did not fit, in sentences; the first 1,000. */
  readonly mismatches: readonly string[]
  close(): Promise<void>
}

const maxMismatches = 1000

/**
 * Starts answering from a fixture: a file's name, or what a recorder holds.
 *
 * @throws {FixtureError} The file is no recording, or a damaged one; the message says where.
 * @throws {TypeError} An option is wrong; the message names it.
 * @throws {Error} The port is taken.
 */
export async function startReplay(recording: string | Fixture, options: ReplayOptions = {}): Promise<Replay> {
  checkNames('option', '', options, ['port', 'onExchange'])
  if (recording === undefined || recording === null) throw new TypeError('recording must be a file or a fixture')
  const { exchanges, placeholders } = typeof recording === 'string' ? await readFixture(recording) : recording
  const listener = await listenOnLoopback(options.port)
  const { addresses, instanceOf } = ownAddresses(listener.port)
  const atTheStart = (): Bindings => new Map(Object.entries(addresses))
  const mismatches: string[] = []
  let position = 0
  let bindings = atTheStart()

  function valueOf(name: string): string {
    const value = bindings.get(name) ?? madeUp(name, Object.hasOwn(placeholders, name) ? placeholders[name] : undefined)
    bindings.set(name, value)
    return value
  }

  /** The exchange that this request is, or what is different. */
  function advance(arrived: ArrivedRequest): RecordedExchange | readonly string[] {
    let problems: readonly string[] = ['the recording has ended']
    // A request that does not continue the recording may be its first one again.
    for (const [index, known] of [[position, bindings] as const, [0, atTheStart()] as const]) {
      const exchange = exchanges[index]
      if (!exchange) continue
      const tried: Bindings = new Map(known)
      const found = differences(exchange.request, arrived, tried)
      if (found.length === 0) {
        position = index + 1
        bindings = tried
        return exchange
      }
      if (index === position) problems = found
    }
    return problems
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    if (!body) return sendPlain(response, 413, 'The replay takes bodies of up to 1 MiB.')
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/su)
    const at = position
    const found = advance({
      instance: instanceOf(request),
      method: request.method ?? '',
      path,
      query: new URLSearchParams(query),
      cookies: cookiesOf(request.headers.cookie ?? ''),
      contentType: mediaTypeOf(request),
      body: body.toString('utf8'),
    })
    if (!('request' in found)) return refuse(response, at, found)
    const { request: recorded, answer: given } = found
    const status = typeof given === 'string' ? given : String(given.status)
    const line = `${position} of ${exchanges.length}: ${recorded.method} ${recorded.path} → ${status}`
    response.once('close', () => options.onExchange?.(line))
    if (given === 'cut') response.destroy()
    else if (given !== 'none') sendRecorded(response, given, valueOf)
  }

  function refuse(response: ServerResponse, at: number, problems: readonly string[]): void {
    const expected = exchanges[at]?.request
    const wanted = expected ? `${expected.method} ${expected.path}` : 'no further request'
    const sentence = `Exchange ${Math.min(at + 1, exchanges.length)} of ${exchanges.length}: ${wanted} was recorded, but ${problems.join('; ')}`
    if (mismatches.length < maxMismatches) mismatches.push(sentence)
    response.once('close', () => options.onExchange?.(sentence))
    const content = { error: 'replay_mismatch', error_description: sentence, expected: expected ?? null }
    response.writeHead(409, { 'content-type': 'application/json; charset=utf-8', [banner]: '1' })
    response.end(`${JSON.stringify(content, undefined, 2)}\n`)
  }

  listener.serve((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  return {
    authUrl: addresses.home,
    regionalAuthUrl: addresses.regional,
    get replayed() {
      return position
    },
    get isComplete() {
      return position === exchanges.length
    },
    mismatches,
    close: () => listener.close(),
    [Symbol.asyncDispose]: () => listener.close(),
  }
}

/** The media type alone, lower-case; empty where there is none. */
function mediaTypeOf({ headers }: IncomingMessage): string {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
}

function cookiesOf(header: string): URLSearchParams {
  const cookies = new URLSearchParams()
  for (const pair of header.split(';').filter((each) => each.trim() !== '')) {
    const [name = '', value = ''] = pair.trim().split(/[=](.*)/su)
    cookies.append(name, value)
  }
  return cookies
}
