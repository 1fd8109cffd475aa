/** What an OpenTelemetry collector gets of an instance, where the standard's own variable names one. */
import { expect, it } from '@jest/globals'
import { describeWithRedis } from '../../../tests/support/redis-server.ts'
import { startOtlpReceiver } from '../../../tests/support/otlp-receiver.ts'
import { account, atEnd, call, deploy, life, useRedis } from './deployment.ts'

describeWithRedis('a collector', () => {
  useRedis()

  it('gets the calls as spans of their callers’ traces, and the metrics, when the instance stops at the latest', async () => {
    const receiver = await startOtlpReceiver()
    atEnd(async () => receiver[Symbol.asyncDispose]())
    const deployment = await deploy({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } })
    const instance = deployment.instance(0)
    await deployment.pass(life)
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    expect(await call(`${instance.url}/api/1/vehicles`, { traceparent })).toMatchObject({ status: 200 })
    expect(await instance.signal('SIGTERM')).toBe(0)

    const { spans, points, text } = receiver.take()
    const proxied = spans.find(({ name }) => name === 'owner_sso.proxy GET')
    expect(proxied?.parentSpanId).toBe('b7ad6b7169203331')
    expect(spans.find(({ name }) => name === 'owner_sso.refresh')?.parentSpanId).toBe(proxied?.spanId)
    expect(points.find(({ metric }) => metric === 'owner_sso.token.served')?.value).toBe(1)
    expect(text).toContain('"owner-sso-shared-proxy"')
    expect(text).not.toContain(account)
  })

  it('that is away keeps no instance from working, or from stopping', async () => {
    const deployment = await deploy({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } })
    const instance = deployment.instance(0)
    expect(await call(`${instance.url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    expect(await instance.signal('SIGTERM')).toBe(0)
  })
})
