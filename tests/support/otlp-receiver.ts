/** A receiver of OTLP over HTTP on loopback, as a collector is one: it keeps what arrives, as the JSON that it was sent. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

export interface ReceivedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly links: readonly { readonly spanId: string }[]
  readonly failed: boolean
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface ReceivedPoint {
  readonly metric: string
  /** What it is called in Prometheus, which appends the unit and the kind. */
  readonly names: readonly string[]
  readonly value: number
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface Received {
  readonly spans: readonly ReceivedSpan[]
  readonly points: readonly ReceivedPoint[]
  /** As it came over the wire. */
  readonly text: string
}

export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string
  /** What has arrived since the last time. */
  take(): Received
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface Point {
  readonly attributes: readonly Attribute[]
  readonly asDouble?: number
  readonly asInt?: number
  readonly count?: number
}

type Metric = { readonly name: string; readonly unit: string } & {
  readonly [Kind in 'sum' | 'gauge' | 'histogram']?: { readonly dataPoints: readonly Point[] }
}

interface Span extends Omit<ReceivedSpan, 'attributes' | 'failed'> {
  readonly attributes: readonly Attribute[]
  readonly status: { readonly code: number }
}

/** What is posted to `/v1/traces` or `/v1/metrics`. */
interface ExportRequest {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
  readonly resourceMetrics?: readonly { readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[] }[]
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  let bodies: string[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    bodies.push(await text(request))
    response.setHeader('content-type', 'application/json').end('{}')
  }
  const server = createServer((request, response) => void receive(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    take() {
      const taken = bodies
      bodies = []
      const parsed: ExportRequest[] = taken.map((body) => JSON.parse(body))
      return { spans: parsed.flatMap(spansIn), points: parsed.flatMap(pointsIn), text: taken.join('\n') }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function spansIn({ resourceSpans = [] }: ExportRequest): ReceivedSpan[] {
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map(({ attributes, status, ...span }) => ({ ...span, failed: status.code === 2, attributes: plain(attributes) }))
}

function pointsIn({ resourceMetrics = [] }: ExportRequest): ReceivedPoint[] {
  const metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  return metrics.flatMap(({ name, unit, sum, gauge, histogram }) => {
    const base = `${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}`
    const names = endings(sum, histogram).map((ending) => base + ending)
    return ((sum ?? gauge ?? histogram)?.dataPoints ?? []).map(({ attributes, asDouble, asInt, count }) => ({
      metric: name,
      names,
      value: Number(asDouble ?? asInt ?? count),
      attributes: plain(attributes),
    }))
  })
}

function endings(sum: unknown, histogram: unknown): string[] {
  if (histogram !== undefined) return ['_count', '_sum', '_bucket']
  return [sum === undefined ? '' : '_total']
}

const plain = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
