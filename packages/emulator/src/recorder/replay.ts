/**
 * `startReplay`: answers from a recorded login, in its order, as long as the client sends what it sent then.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { differences, type ArrivedRequest } from './comparison.ts'
import { instanceOf, ownAddresses, readBody, sendPlain } from './addresses.ts'
import type { Json } from './field-masks.ts'
import { readFixture, type Fixture, type RecordedAnswer, type RecordedExchange } from './fixture.ts'
import { onlyPlaceholder, render } from './placeholders.ts'
import { madeUp } from './pseudonyms.ts'
import { checkNames } from '../support/known-names.ts'
import { banner, listenOnLoopback } from '../http/loopback-listener.ts'
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
 * @throws {Error} The file is no recording, or a damaged one; the message says where.
 * @throws {TypeError} An option is wrong; the message names it.
 * @throws {Error} The port is taken.
 */
export async function startReplay(recording: string | Fixture, options: ReplayOptions = {}): Promise<Replay> {
  checkNames('option', '', options, ['port', 'onExchange'])
  if (recording === undefined || recording === null) throw new TypeError('recording must be a file or a fixture')
  const { exchanges, placeholders } = typeof recording === 'string' ? await readFixture(recording) : recording
  const listener = await listenOnLoopback(options.port)
  const addresses = ownAddresses(listener.port)
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
      instance: instanceOf(request, addresses),
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

/** A recorded answer, with a value in the place of each placeholder. */
function sendRecorded(response: ServerResponse, recorded: RecordedAnswer, valueOf: (name: string) => string): void {
  const headers = Object.entries(recorded.headers).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [render(name, valueOf), headerText(render(value, valueOf))]),
  )
  const body = Buffer.from(bodyOf(recorded, valueOf))
  response.writeHead(recorded.status, [...headers, banner, '1', 'content-length', String(body.length)]).end(body)
}

function bodyOf({ form, json, html, text }: RecordedAnswer, valueOf: (name: string) => string): string {
  if (json !== undefined) return JSON.stringify(filledJson(json, valueOf))
  const lines = html ?? text
  if (lines) return render([lines].flat().join('\n'), valueOf)
  const fields = new URLSearchParams()
  for (const [name, values] of Object.entries(form ?? {})) {
    for (const value of [values].flat()) fields.append(render(name, valueOf), render(value, valueOf))
  }
  return fields.toString()
}

function filledJson(value: Json, valueOf: (name: string) => string): Json {
  if (typeof value === 'string') {
    const filled = render(value, valueOf)
    return onlyPlaceholder(value)?.spelling === 'number' ? Number(filled) : filled
  }
  if (Array.isArray(value)) return value.map((item: Json) => filledJson(item, valueOf))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [render(name, valueOf), filledJson(item, valueOf)]),
  )
}

/** What can stand in a header: a value that was edited by hand may hold anything. */
function headerText(value: string): string {
  return value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/gu, '?')
}
