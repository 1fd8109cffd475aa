/** What arrives at an OTLP receiver, by way of the real SDK, when people sign in, tokens are refreshed and calls are proxied. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { context, metrics, trace } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { createSso, createTokenManager, sweepOnce, type TokenManager, type TokenManagerOptions } from '@owner-sso/core'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { ownerApiProxy } from '@owner-sso/express'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { instrumentOwnerSso } from '../src/index.ts'
import {
  type OtlpReceiver,
  type Received,
  type ReceivedSpan,
  startOtlpReceiver,
} from '../../../tests/support/otlp-receiver.ts'

const account = 'plain@example.com'
const credential = 'correct horse'

let receiver: OtlpReceiver
let tracing: NodeTracerProvider
let metering: MeterProvider
let emulator: Emulator
let end: () => void
/** What no attribute may have in it. */
let secrets: string[]

beforeAll(async () => {
  receiver = await startOtlpReceiver()
  const traces = new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` })
  tracing = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(traces)] })
  tracing.register()
  const exporter = new OTLPMetricExporter({
    url: `${receiver.url}/v1/metrics`,
    temporalityPreference: AggregationTemporality.DELTA,
  })
  metering = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })],
  })
  metrics.setGlobalMeterProvider(metering)
})
afterAll(async () => {
  await Promise.all([tracing.shutdown(), metering.shutdown()])
  await receiver[Symbol.asyncDispose]()
})

beforeEach(async () => {
  emulator = await startEmulator({ firewall: false, reuse: 'grace' })
  end = instrumentOwnerSso()
  secrets = [account, 'example.com', credential, 'correct', new URL(emulator.authUrl).host, '127.0.0.1']
})
afterEach(async () => {
  end()
  await emulator.close()
  await received()
})

/** What has arrived since the last time; nothing of it may say whose, with what, or where. */
async function received(): Promise<Received> {
  await Promise.all([tracing.forceFlush(), metering.forceFlush()])
  const taken = receiver.take()
  for (const secret of secrets) expect(taken.text).not.toContain(secret)
  return taken
}

interface SignedIn {
  readonly tokens: TokenManager
  /** Another manager, that meets the tokens when they are so many hours older. */
  readonly hoursLater: (hours: number) => Promise<TokenManager>
}

/** What every write of a store waits for. */
let gate = Promise.resolve()

/** An account that is signed in, and a manager that has not looked at it yet. */
async function signedIn(options: Partial<TokenManagerOptions> = {}): Promise<SignedIn> {
  const sso = createSso({ authUrl: emulator.authUrl })
  const memory = memoryTokenStore()
  const swap: typeof memory.swap = async (...write) => {
    await gate
    return memory.swap(...write)
  }
  const store = { ...memory, swap }
  const tokenSet = await sso.login({ identity: account, credential })
  secrets.push(tokenSet.access_token, tokenSet.refresh_token)
  const manager = (): TokenManager => createTokenManager({ issuer: sso, store, minRefreshInterval: 0, ...options })
  await manager().save(account, tokenSet)
  await received()
  return {
    tokens: manager(),
    async hoursLater(hours) {
      const stored = await memory.read(account)
      if (stored?.record.state !== 'signed-in') throw new Error('not signed in')
      const record = { ...stored.record, obtained_at: stored.record.obtained_at - hours * 3600 }
      await memory.swap(account, stored.version, record, 'aged')
      return manager()
    },
  }
}

/** `name < name of its parent`, or `name` where it has none. */
function lineage(spans: readonly ReceivedSpan[]): string[] {
  return spans
    .map(({ name, parentSpanId }) => {
      const parent = spans.find(({ spanId }) => spanId === parentSpanId)
      return parent === undefined ? name : `${name} < ${parent.name}`
    })
    .toSorted()
    .filter((each, index, all) => each !== all[index - 1])
}

const refreshesIn = ({ spans }: Received): ReceivedSpan[] => spans.filter(({ name }) => name === 'owner_sso.refresh')

/** The value of a metric, of all points with these attributes. */
function sum({ points }: Received, metric: string, attributes: Readonly<Record<string, unknown>> = {}): number {
  return points
    .filter((point) => point.metric === metric)
    .filter((point) => Object.entries(attributes).every(([name, value]) => point.attributes[name] === value))
    .reduce((total, { value }) => total + value, 0)
}

it('a login is a span with a child for each step', async () => {
  const sso = createSso({ authUrl: emulator.authUrl })
  const owner = emulator.account('mfa@example.com')
  secrets.push(owner.identity)
  await sso.login({
    identity: owner.identity,
    credential,
    passcode: ([factor]) => ({ factorId: factor?.id ?? '', passcode: owner.passcode('Device #1') ?? '' }),
  })
  const { spans } = await received()
  const steps = ['login-page', 'form-submission', 'mfa-factors', 'mfa-verify', 'form-submission', 'code-exchange']
  const login = spans.find(({ name }) => name === 'owner_sso.login')
  expect(login?.attributes).toEqual({ 'owner_sso.login.operation': 'login' })
  const children = spans.filter(({ parentSpanId }) => parentSpanId === login?.spanId)
  expect(children.map(({ attributes }) => attributes['owner_sso.login.step'])).toEqual(expect.arrayContaining(steps))
  expect(children).toHaveLength(spans.length - 1)
  expect(new Set(children.flatMap(({ attributes }) => Object.keys(attributes)))).toEqual(
    new Set(['owner_sso.login.step', 'http.response.status_code']),
  )
  expect(children.at(-1)).toMatchObject({
    name: 'owner_sso.login code-exchange',
    attributes: { 'http.response.status_code': 200 },
  })
})

it('a login that fails says at which step, by the code of its error alone', async () => {
  const sso = createSso({ authUrl: emulator.authUrl })
  secrets.push('a guess')
  await expect(sso.login({ identity: account, credential: 'a guess' })).rejects.toThrow(/./u)
  emulator.once('login-page', { firewall: true })
  await expect(sso.login({ identity: account, credential })).rejects.toThrow(/./u)
  const arrived = await received()
  const failed = arrived.spans.filter((span) => span.failed)
  expect(failed.map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
    ['owner_sso.login', 'ERR_SSO_INVALID_CREDENTIALS'],
    ['owner_sso.login login-page', 'ERR_SSO_FIREWALL_CHALLENGE'],
    ['owner_sso.login', 'ERR_SSO_FIREWALL_CHALLENGE'],
  ])
  expect(sum(arrived, 'owner_sso.firewall.blocks')).toBe(1)
})

it('a refresh says why it was made, and how it ended', async () => {
  const { tokens, hoursLater } = await signedIn()
  const reasonOf = async (by: TokenManager, call: (by: TokenManager) => Promise<unknown>): Promise<unknown> => {
    await call(by)
    await by.settled()
    const [refresh, ...others] = refreshesIn(await received())
    expect([refresh?.attributes['owner_sso.refresh.outcome'], others]).toEqual(['tokens', []])
    return refresh?.attributes['owner_sso.refresh.reason']
  }
  const get = (by: TokenManager): Promise<string> => by.getAccessToken(account)
  const old = await get(tokens)
  expect(await reasonOf(tokens, (by) => by.invalidate(account, old).then(() => get(by)))).toBe('refused')
  expect(await reasonOf(tokens, (by) => by.refresh(account))).toBe('asked')
  expect(await reasonOf(await hoursLater(7.5), sweepOnce)).toBe('keeper')
  expect(await reasonOf(await hoursLater(7.5), get)).toBe('due')
  expect(await reasonOf(await hoursLater(8), get)).toBe('expired')
})

it('refreshes, served tokens and blocks are counted, and callers that wait', async () => {
  const tokens = await (await signedIn()).hoursLater(9)
  let release: (() => void) | undefined
  emulator.once('refresh', { hold: new Promise<void>((resolve) => (release = resolve)), commit: 'after' })
  const waiting = [1, 2, 3].map(() => tokens.getAccessToken(account))
  expect(sum(await received(), 'owner_sso.refresh.waiters')).toBe(3)
  release?.()
  await Promise.all(waiting)
  await tokens.settled()
  const after = await received()
  expect(sum(after, 'owner_sso.refresh.waiters')).toBe(0)
  expect(sum(after, 'owner_sso.token.served')).toBe(3)
  const expired = { 'owner_sso.refresh.outcome': 'tokens', 'owner_sso.refresh.reason': 'expired' }
  expect(sum(after, 'owner_sso.refresh.duration', expired)).toBe(1)
  const remaining = sum(after, 'owner_sso.token.remaining')
  expect(remaining).toBeGreaterThan(7 * 3600)
  expect(remaining).toBeLessThan(9 * 3600)

  emulator.once('refresh', { drop: 'after-commit' })
  await tokens.refresh(account).catch(() => tokens.refresh(account))
  const replayed = await received()
  expect(sum(replayed, 'owner_sso.refresh.replays')).toBe(1)
  expect(refreshesIn(replayed).map(({ attributes }) => attributes['owner_sso.refresh.replay'])).toEqual([false, true])

  emulator.once('refresh', { firewall: true })
  await expect(tokens.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
  const blocked = await received()
  expect(sum(blocked, 'owner_sso.firewall.blocks')).toBe(1)
  const challenged = { 'owner_sso.refresh.outcome': 'ERR_SSO_FIREWALL_CHALLENGE' }
  expect(sum(blocked, 'owner_sso.refresh.duration', challenged)).toBe(1)
})

it('an account that was signed out, or is remembered no more, is not the worst one', async () => {
  const { tokens } = await signedIn({ cachedAccounts: 1 })
  const isKnown = async (): Promise<boolean> =>
    (await received()).points.some(({ metric }) => metric === 'owner_sso.token.remaining')
  await tokens.getAccessToken(account)
  expect(await isKnown()).toBe(true)
  await tokens.status('another')
  expect(await isKnown()).toBe(false)
  await tokens.getAccessToken(account)
  expect(await isKnown()).toBe(true)
  await tokens.forget(account)
  expect(await isKnown()).toBe(false)
})

it('the budget tells what was taken of it, and what was refused', async () => {
  const { tokens } = await signedIn({ requestBudget: { perMinute: 2, burst: 1, scope: 'process' } })
  await tokens.refresh(account)
  await expect(tokens.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_BUDGET' })
  const arrived = await received()
  const places = (outcome: string): number =>
    sum(arrived, 'owner_sso.budget.places', { 'owner_sso.budget.outcome': outcome })
  expect([places('taken'), places('ERR_SSO_REFRESH_BUDGET')]).toEqual([1, 1])
  expect(sum(arrived, 'owner_sso.budget.limit')).toBe(2)
})

/** Calls the owner API through the proxy, as part of a trace of the caller's. */
async function callThroughProxy(tokens: TokenManager, traceparent: string, method = 'GET'): Promise<number> {
  const proxy = ownerApiProxy({ target: emulator.ownerApiUrl, tokens, account: () => account, authorize: () => true })
  const server = createServer(proxy).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { status } = await fetch(`http://127.0.0.1:${port}/api/1/vehicles?in=the-path`, {
    method,
    headers: { traceparent },
  })
  await proxy.close()
  server.close()
  await once(server, 'close')
  return status
}

const [callersTrace, callersSpan] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']

it('proxied calls with unknown methods share one name', async () => {
  expect(await callThroughProxy((await signedIn()).tokens, `00-${callersTrace}-${callersSpan}-01`, 'M-SEARCH')).toBe(
    405,
  )
  const { spans } = await received()
  expect(spans.filter(({ name }) => name.startsWith('owner_sso.proxy'))).toMatchObject([
    {
      name: 'owner_sso.proxy HTTP',
      attributes: { 'http.request.method': '_OTHER', 'http.request.method_original': 'M-SEARCH' },
    },
  ])
})

it('a proxied call is a child of its caller’s span, with the refresh and the store calls that it needs', async () => {
  const tokens = await (await signedIn()).hoursLater(9)
  expect(await callThroughProxy(tokens, `00-${callersTrace}-${callersSpan}-01`)).toBe(200)
  await tokens.settled()
  const { spans, text } = await received()
  expect(text).not.toMatch(/vehicles|the-path/u)
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([callersTrace]))
  expect(spans.find(({ name }) => name === 'owner_sso.proxy GET')).toMatchObject({
    parentSpanId: callersSpan,
    kind: 2,
    failed: false,
    attributes: { 'http.request.method': 'GET', 'http.response.status_code': 200 },
  })
  expect(lineage(spans)).toEqual([
    'owner_sso.proxy GET',
    'owner_sso.refresh < owner_sso.proxy GET',
    'owner_sso.store read < owner_sso.proxy GET',
    'owner_sso.store swap < owner_sso.proxy GET',
    'owner_sso.store swap < owner_sso.refresh',
  ])
})

it('a refresh in the background that outlives its call is a trace of its own, with a link to that call', async () => {
  const tokens = await (await signedIn()).hoursLater(7.5)
  let open: (() => void) | undefined
  gate = new Promise((resolve) => (open = resolve))
  expect(await callThroughProxy(tokens, `00-${callersTrace}-${callersSpan}-01`)).toBe(200)
  const call = (await received()).spans.find(({ name }) => name === 'owner_sso.proxy GET')
  open?.()
  await tokens.settled()
  const [refresh] = refreshesIn(await received())
  expect([refresh?.parentSpanId, refresh?.links.map(({ spanId }) => spanId)]).toEqual([undefined, [call?.spanId]])
})

it('a refresh within a span of the application is a child of that', async () => {
  const { tokens } = await signedIn()
  const span = trace.getTracer('an application').startSpan('handler')
  await context.with(trace.setSpan(context.active(), span), () => tokens.refresh(account))
  span.end()
  const [refresh] = refreshesIn(await received())
  expect(refresh?.parentSpanId).toBe(span.spanContext().spanId)
})

it('an account is an attribute only where that was asked for: a keyed hash', async () => {
  end()
  expect(() => instrumentOwnerSso({ accountKey: 'short' })).toThrow(/^accountKey must be/u)
  expect(() => instrumentOwnerSso({ acountKey: 'x' } as object)).toThrow(/^acountKey is not an option/u)
  for (const wrong of ['x'.repeat(16), null, ['x']]) {
    expect(() => instrumentOwnerSso(wrong as never)).toThrow(
      new TypeError('instrumentOwnerSso takes an object with accountKey'),
    )
  }
  const { tokens } = await signedIn()
  const accountKey = 'a key of sixteen bytes and more'
  end = instrumentOwnerSso({ accountKey })
  await tokens.refresh(account)
  const [refresh] = refreshesIn(await received())
  const hash = createHmac('sha256', accountKey).update(account).digest('hex').slice(0, 32)
  expect(refresh?.attributes['owner_sso.account']).toBe(hash)
})

it('nothing arrives after the instrumentation was ended', async () => {
  const { tokens } = await signedIn()
  end()
  end()
  await tokens.refresh(account)
  const { spans, points } = await received()
  expect([spans, points.filter(({ value }) => value > 0)]).toEqual([[], []])
})

it('the dashboard asks for metrics that arrive, under the names that Prometheus gives them', async () => {
  const { tokens } = await signedIn({ requestBudget: { perMinute: 300, burst: 100, scope: 'process' } })
  emulator.once('refresh', { drop: 'after-commit' })
  await tokens.refresh(account).catch(() => tokens.refresh(account))
  emulator.once('refresh', { firewall: true })
  await tokens.refresh(account).catch(() => undefined)
  await tokens.getAccessToken(account)
  const { points } = await received()
  const dashboard = readFileSync(new URL('../grafana-dashboard.json', import.meta.url), 'utf8')
  const asked = [...new Set(dashboard.match(/\bowner_sso_\w+(?=[[{)])/gu))].filter(
    (name) => !/_(?:outcome|reason)$/u.test(name),
  )
  const arrived = points.map(({ names }) => names)
  expect(asked.filter((name) => !arrived.flat().includes(name))).toEqual([])
  expect(arrived.filter((names) => !names.some((name) => asked.includes(name)))).toEqual([])
  const attributes = new Set(
    points.flatMap((point) => Object.keys(point.attributes).map((name) => name.replaceAll('.', '_'))),
  )
  const labels = new Set(dashboard.match(/\bowner_sso_\w+_(?:outcome|reason)\b/gu))
  expect(labels).toEqual(attributes)
})
