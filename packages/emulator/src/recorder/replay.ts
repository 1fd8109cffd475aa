/**
 * `startReplay`: answers from a recorded login, in its order, as long as the client sends what it sent then.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { instanceOf, maxBodyBytes, ownAddresses, sendPlain } from './addresses.ts'
import { readFixture, type Fixture, type Json, type RecordedAnswer, type RecordedRequest } from './fixture.ts'
import { fits, isPlain, madeUp, render, type Bindings } from './placeholders.ts'
import { readUpTo } from './upstream.ts'
import { checkNames } from '../support/known-names.ts'
import { grouped, mediaType, readCookies } from '../http/service-request.ts'
import { banner, listen } from '../http/listeners.ts'

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
  /** The last exchange of the recording was answered; it starts anew with its first request. */
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
  const listener = await listen({ port: options.port ?? 0 })
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

  /** What is different from the next request of the recording; empty where it is that one, or the recording's first one again. */
  function advance(arrived: IncomingMessage, body: string): readonly string[] {
    const problems: string[][] = []
    for (const [index, known] of [[position, bindings] as const, [0, atTheStart()] as const]) {
      const request = exchanges[index]?.request
      const tried: Bindings = new Map(known)
      const instance = instanceOf(arrived, addresses)
      problems.push(request ? differences(request, instance, arrived, body, tried) : ['the recording has ended'])
      if (problems.at(-1)?.length !== 0) continue
      position = index + 1
      bindings = tried
      return []
    }
    return problems[0] ?? []
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readUpTo(request, maxBodyBytes)
    if (!body) return sendPlain(response, 413, 'The replay takes bodies of up to 1 MiB.')
    const at = position
    const problems = advance(request, body.toString('utf8'))
    if (problems.length > 0) return refuse(response, at, problems)
    const { request: recorded, answer: given = 'cut' } = exchanges[position - 1] ?? {}
    const status = typeof given === 'string' ? given : String(given.status)
    const line = `${position} of ${exchanges.length}: ${recorded?.method} ${recorded?.path} → ${status}`
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
    get isComplete() {
      return position === exchanges.length
    },
    mismatches,
    close: () => listener.close(),
    [Symbol.asyncDispose]: () => listener.close(),
  }
}

/**
 * What is different between a request that arrived and the one that was recorded, in sentences that name no value of the client's.
 * Empty where it is the recorded one; then `bindings` know what its placeholders stand for.
 */
function differences(
  expected: RecordedRequest,
  instance: string | undefined,
  { method = '', url = '', headers }: IncomingMessage,
  body: string,
  bindings: Bindings,
): string[] {
  const { form, json, html, text } = expected
  const [path = '', query = ''] = url.split(/\?(.*)/su)
  if (instance !== expected.instance) return [`it must be sent to the ${expected.instance} instance`]
  if (method !== expected.method || !fits(expected.path, path, bindings)) {
    const came = `${method} ${path}`
    return [isPlain(came) ? `${came} came` : 'another request came']
  }
  const compare = (at: string, wanted: unknown, came: unknown): string[] =>
    compareFields(at, flattened(wanted), new Map(flattened(came)), bindings)
  const problems = [
    ...compare('query', expected.query ?? {}, Object.fromEntries(grouped(new URLSearchParams(query)))),
    // More cookies are fine.
    ...compare('cookie', expected.cookies ?? {}, Object.fromEntries(readCookies(headers.cookie ?? ''))).filter(
      (each) => !each.endsWith(' was not there'),
    ),
  ]
  const type = mediaType(String(expected.headers['content-type'] ?? ''))
  if (type !== '' && !fits(type, mediaType(headers['content-type'] ?? ''), bindings))
    return [...problems, `content-type must be ${type}`]
  if (form) return [...problems, ...compare('form', form, Object.fromEntries(grouped(new URLSearchParams(body))))]
  if (json !== undefined) return [...problems, ...compare('body', json, parsed(body))]
  const isSame = fits([html ?? text ?? []].flat().join('\n'), body, bindings)
  return isSame ? problems : [...problems, 'body differs']
}

function compareFields(
  at: string,
  expected: readonly (readonly [string, string])[],
  arrived: Map<string, string>,
  bindings: Bindings,
): string[] {
  const problems = expected.flatMap(([template, wanted]) => {
    const name = render(template, (each) => bindings.get(each) ?? '')
    const came = arrived.get(name)
    arrived.delete(name)
    if (came === undefined) return [`${at}: ${template} is missing`]
    if (fits(wanted, came, bindings)) return []
    const isAlone = /^\{\{[^}]*\}\}$/u.test(wanted)
    return [`${at}: ${template} must be ${isAlone ? `${wanted}, the value that was sent before` : `"${wanted}"`}`]
  })
  // The name may be a secret that stands alone.
  const more = [...arrived.keys()].map((name) => `${at}: ${isPlain(name) ? name : 'another name'} was not there`)
  return [...problems, ...more]
}

/** Each value with the path of names to it: `data.0.id`. An empty list or object is a value, too. */
function flattened(value: unknown, at = ''): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[at, String(value)]]
  const entries = Object.entries(value)
  if (entries.length === 0 && at !== '') return [[at, JSON.stringify(value)]]
  return entries.flatMap(([name, inner]: [string, unknown]) => flattened(inner, at === '' ? name : `${at}.${name}`))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** A recorded answer, with a value in the place of each placeholder. */
function sendRecorded(response: ServerResponse, recorded: RecordedAnswer, valueOf: (name: string) => string): void {
  const headers = Object.entries(recorded.headers).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [render(name, valueOf), headerText(render(value, valueOf))]),
  )
  const body = Buffer.from(bodyOf(recorded, valueOf))
  response.writeHead(recorded.status, [...headers, banner, '1', 'content-length', String(body.length)]).end(body)
}

function bodyOf({ json, html, text }: RecordedAnswer, valueOf: (name: string) => string): string {
  return json === undefined
    ? render([html ?? text ?? []].flat().join('\n'), valueOf)
    : JSON.stringify(filled(json, valueOf))
}

function filled(value: Json, valueOf: (name: string) => string): Json {
  if (typeof value === 'string') {
    const text = render(value, valueOf)
    return value.endsWith(':number}}') ? Number(text) : text
  }
  if (Array.isArray(value)) return value.map((item: Json) => filled(item, valueOf))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [render(name, valueOf), filled(item, valueOf)]))
}

/** What can stand in a header: a value that was edited by hand may hold anything. */
function headerText(value: string): string {
  return value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/gu, '?')
}
