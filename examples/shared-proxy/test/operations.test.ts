/** The pages for operators, in good times and in bad ones. */
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { account, apiKey, call, callMany, deploy, life, metric, useRedis } from './deployment.ts'
import type { Instance } from './instance.ts'
import { freePort } from '../../../tests/support/free-port.ts'
import { describeWithRedis } from '../../../tests/support/redis-server.ts'

async function page(
  instance: Instance,
  name: string,
): Promise<{ readonly status: number | undefined; readonly body: unknown }> {
  const { status, body } = await call(`${instance.url}/${name}`, { authorization: '' })
  return { status, body: JSON.parse(body) }
}

const clear = { ready: true, store: 'up', firewall: 'clear', closing: false }

describeWithRedis('the pages for operators', () => {
  useRedis()

  it('say that an instance is alive and ready', async () => {
    const deployment = await deploy()
    expect(await page(deployment.instance(0), 'healthz')).toEqual({ status: 200, body: { alive: true } })
    expect(await page(deployment.instance(0), 'readyz')).toEqual({ status: 200, body: clear })
    // As load balancers ask: HAProxy and others without a Host, some clients with the whole address.
    const { port } = deployment.instance(0)
    for (const head of [
      'GET /healthz HTTP/1.0',
      `GET http://lb:${port}/healthz HTTP/1.1\r\nHost: lb:${port}\r\nConnection: close`,
    ]) {
      const socket = connect(port, '127.0.0.1')
      socket.write(`${head}\r\n\r\n`)
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\{"alive":true\}/u)
    }
  })

  it('say that Redis is down, while tokens in memory go on working', async () => {
    const deployment = await deploy()
    const instance = deployment.instance(0)
    expect(await call(`${instance.url}/api/1/vehicles`)).toMatchObject({ status: 200 })

    await deployment.redis.kill()
    const down = { ready: false, store: 'down', firewall: 'unknown', closing: false }
    expect(await page(instance, 'readyz')).toEqual({ status: 503, body: down })
    expect(await page(instance, 'healthz')).toMatchObject({ status: 200 })
    expect(await call(`${instance.url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    expect(await metric(instance, 'owner_sso_store_up')).toBe(0)

    await deployment.redis.start()
    // The client tries again after a moment; a command waits for it.
    while ((await page(instance, 'readyz')).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await metric(instance, 'owner_sso_store_up')).toBe(1)
  })

  it('say that the firewall blocks, on every instance, until one got through again', async () => {
    const deployment = await deploy({ instances: 2 })
    const [first, second] = [deployment.instance(0), deployment.instance(1)]
    await deployment.pass(life)
    deployment.emulator.once('refresh', { firewall: true })

    const answer = await call(`${first.url}/api/1/vehicles`)
    expect(answer.status).toBe(503)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(60)
    for (const instance of [first, second]) {
      expect(await page(instance, 'readyz')).toMatchObject({
        status: 503,
        body: { ready: false, store: 'up', firewall: 'blocked', nextAttemptAt: expect.any(Number) },
      })
      expect(await metric(instance, 'owner_sso_firewall_blocked')).toBe(1)
    }
    expect(await metric(first, 'owner_sso_refresh_events_total{event="blocked"}')).toBe(1)

    await deployment.pass(2 * 60 * 60)
    expect(await page(second, 'readyz')).toEqual({ status: 200, body: clear })
    expect(await call(`${second.url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    expect(await metric(first, 'owner_sso_firewall_blocked')).toBe(0)
  })

  it('do not show why a call failed: that is in the log, with the account', async () => {
    const deployment = await deploy({ environment: { OWNER_SSO_API_URL: `http://127.0.0.1:${await freePort()}` } })
    const instance = deployment.instance(0)
    const { status, body } = await call(`${instance.url}/api/1/vehicles`)
    expect([status, JSON.parse(body)]).toEqual([502, expect.objectContaining({ code: 'ERR_OWNER_API_UNREACHABLE' })])
    expect(body).not.toMatch(/ECONN|127\.0\.0\.1/u)
    const [line] = await instance.prints(/\{[^\n]*"event":"call-failed"[^\n]*/u)
    expect(JSON.parse(line)).toMatchObject({
      answered: 'ERR_OWNER_API_UNREACHABLE',
      account,
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  it('and the log tell that refreshed tokens are refused, and until when the account works', async () => {
    const deployment = await deploy()
    const instance = deployment.instance(0)
    deployment.emulator.applyScenario('refreshed-tokens-refused')
    await deployment.tokens.refresh(account)
    expect(await callMany(instance.url, 2)).toEqual({ 200: 2 })
    const [line] = await instance.prints(/\{[^\n]*"event":"refreshed-token-refused"[^\n]*/u)
    expect(JSON.parse(line)).toMatchObject({
      account,
      in_a_row: 1,
      message: expect.stringMatching(
        /^Refreshed tokens are refused by the owner API\. Works until [-\d ]*\d\d:\d\d UTC; sign in again before\.$/u,
      ),
    })
    expect(await metric(instance, 'owner_sso_refresh_events_total{event="refreshed-token-refused"}')).toBe(1)
  })

  it('count calls by their class of status, and name no account and no secret', async () => {
    const deployment = await deploy()
    const instance = deployment.instance(0)
    expect(await callMany(instance.url, 3)).toEqual({ 200: 3 })
    expect(await call(`${instance.url}/api/1/vehicles/0`)).toMatchObject({ status: 404 })
    expect(await call(`${instance.url}/elsewhere`)).toMatchObject({ status: 404 })
    // Not a call: nobody was let in.
    await call(`${instance.url}/api/1/vehicles`, { authorization: '' })
    deployment.emulator.once('owner-api', { status: 500, body: 'out of order' })
    expect(await call(`${instance.url}/api/1/vehicles`)).toMatchObject({ status: 500 })
    await deployment.pass(life)
    expect(await call(`${instance.url}/api/1/vehicles`)).toMatchObject({ status: 200 })

    const count = (status: string): Promise<number> =>
      metric(instance, `owner_sso_call_duration_seconds_count{status="${status}"}`)
    expect(await Promise.all(['2xx', '4xx', '5xx'].map(count))).toEqual([4, 2, 1])
    expect(await metric(instance, 'owner_sso_refresh_events_total{event="refreshed"}')).toBe(1)

    const { headers, body } = await call(`${instance.url}/metrics`, { authorization: '' })
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/u)
    const stored = await deployment.store.read(account)
    const tokens = stored?.record.state === 'signed-in' ? stored.record.tokens : undefined
    const secrets = [apiKey, tokens?.access_token, tokens?.refresh_token, tokens?.id_token]
    for (const secret of secrets) {
      expect(secret).toBeDefined()
      expect(body).not.toContain(secret)
      expect(instance.printed()).not.toContain(secret)
    }
    expect(body).not.toMatch(/@|plain|example/u)
    expect(instance.printed()).toContain(`"event":"refreshed","account":"${account}"`)
  })
})
