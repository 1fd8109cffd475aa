/** How an instance begins and ends. */
import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from '@jest/globals'
import { account, apiKey, atEnd, call, deploy, endAll, gate, life, open, underWay, useRedis } from './deployment.ts'
import { run } from './instance.ts'
import { freePort } from '../../../tests/support/free-port.ts'
import { describeWithRedis } from '../../../tests/support/redis-server.ts'

/** An owner API whose answers the test writes itself. */
async function startStreams(): Promise<{ readonly url: string; readonly stream: () => Promise<ServerResponse> }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    async stream() {
      const [, response]: [unknown, ServerResponse] = (await once(server, 'request')) as never
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      return response
    },
  }
}

describeWithRedis('an instance that is asked to stop', () => {
  useRedis()

  it.each(['SIGTERM', 'SIGINT'] as const)('lets a stream end before it stops, on %s', async (signal) => {
    const streams = await startStreams()
    const deployment = await deploy({ environment: { OWNER_SSO_API_URL: streams.url } })
    const instance = deployment.instance(0)
    const upstream = streams.stream()
    // On a connection that its caller would keep for the next call.
    const answer = await fetch(`${instance.url}/api/1/stream`, { headers: { authorization: `Bearer ${apiKey}` } })
    const whole = answer.text()
    const response = await upstream

    instance.child.kill(signal)
    await instance.prints(/"stopping"/u)
    await expect(call(`${instance.url}/healthz`)).rejects.toThrow('ECONNREFUSED')
    response.end('data: 2\n\n')

    expect(await whole).toBe('data: 1\n\ndata: 2\n\n')
    expect(await instance.exitCode).toBe(0)
  })

  it('cuts a stream that has not ended when the time for that is over', async () => {
    const streams = await startStreams()
    const deployment = await deploy({
      environment: { OWNER_SSO_API_URL: streams.url, OWNER_SSO_GRACE_SECONDS: '0' },
    })
    const instance = deployment.instance(0)
    const upstream = streams.stream()
    const answer = await open(`${instance.url}/api/1/stream`)
    const response = await upstream
    const hungUp = once(response, 'close')

    instance.child.kill('SIGTERM')
    await expect(text(answer)).rejects.toThrow('aborted')
    await hungUp
    expect(await instance.exitCode).toBe(0)
  })

  it('answers the callers that wait for a refresh, and saves the new token set', async () => {
    const deployment = await deploy()
    const instance = deployment.instance(0)
    await deployment.pass(life)
    const { opened, open: release } = gate()
    deployment.emulator.once('refresh', { commit: 'after', hold: opened })
    atEnd(release)
    const answer = fetch(`${instance.url}/api/1/vehicles`, { headers: { authorization: `Bearer ${apiKey}` } })
    await underWay([instance], 1)

    instance.child.kill('SIGTERM')
    await instance.prints(/"stopping"/u)
    release()

    const { status, headers } = await answer
    expect(status).toBe(200)
    expect(headers.get('connection')).toBe('close')
    expect(await instance.exitCode).toBe(0)
    const successor = await deployment.start()
    await successor.pass(life)
    expect(await call(`${successor.url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    expect(deployment.emulator.counters).toMatchObject({ tokenRefreshes: 1, replays: 0 })
  })

  it('saves what a refresh in the background brings, although no caller waits for it', async () => {
    const deployment = await deploy()
    const instance = deployment.instance(0)
    await deployment.pass(0.85 * life)
    const { opened, open: release } = gate()
    deployment.emulator.once('refresh', { commit: 'after', hold: opened })
    atEnd(release)
    expect(await call(`${instance.url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    while (deployment.emulator.counters.tokenRefreshes === 0) await new Promise((resolve) => setTimeout(resolve, 2))

    instance.child.kill('SIGTERM')
    await instance.prints(/"stopping"/u)
    release()

    expect(await instance.exitCode).toBe(0)
    expect(await deployment.store.read(account)).toMatchObject({ record: { state: 'signed-in', refreshes: 1 } })
  })

  it('starts while Redis is down, and works once that is there', async () => {
    const deployment = await deploy()
    await deployment.redis.kill()
    const late = run('main', { environment: { PORT: '0', ...deployment.environment } })
    atEnd(async () => {
      late.child.kill('SIGKILL')
      await late.exitCode
    })
    const [, url = ''] = await late.prints(/"listening","url":"([^"]+)"/u)
    await late.prints(/"store-down","code":"ECONNREFUSED"/u)
    expect(await call(`${url}/readyz`)).toMatchObject({ status: 503 })
    const answer = await call(`${url}/api/1/vehicles`)
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'ERR_GATEWAY_CLIENTS' })
    await late.prints(/"clients-unread"/u)
    await deployment.redis.start()
    await late.prints(/"store-connected"/u)
    expect(await call(`${url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    expect(late.printed().match(/store-down/gu)).toHaveLength(1)
  })

  it('takes no port that is in use, and says so', async () => {
    const deployment = await deploy()
    const { port } = deployment.instance(0)
    const second = run('main', { environment: { ...deployment.environment, PORT: String(port) } })
    expect(await second.exitCode).toBe(1)
    expect(second.printed()).toContain(
      `The gateway could not start: listen EADDRINUSE: address already in use 127.0.0.1:${port}`,
    )
  })
})

describe('an instance whose log nobody reads any more', () => {
  afterEach(endAll)

  it('goes on with its work', async () => {
    const instance = run('main', {
      environment: {
        PORT: '0',
        OWNER_SSO_AUTH_URL: 'https://auth.example.com',
        OWNER_SSO_API_URL: 'https://owner-api.example.com',
        OWNER_SSO_STORE: `redis://127.0.0.1:${await freePort()}`,
      },
    })
    const [, url = ''] = await instance.prints(/"listening","url":"([^"]+)"/u)
    await instance.prints(/"store-down"/u)
    instance.child.stdout?.destroy()
    expect(await call(`${url}/api/1/vehicles`)).toMatchObject({ status: 503 })
    expect(await call(`${url}/healthz`)).toMatchObject({ status: 200 })
    instance.child.kill('SIGTERM')
    expect(await instance.exitCode).toBe(0)
  })
})

describe('an instance with a configuration that it can’t use', () => {
  afterEach(endAll)

  it('ends with code 2 and a sentence that names the variable', async () => {
    const program = run('main', { environment: { OWNER_SSO_AUTH_URL: 'https://auth.example.com' } })
    expect(await program.exitCode).toBe(2)
    expect(program.printed()).toBe(
      'The gateway could not start: OWNER_SSO_API_URL is not set: it must be the base address of the owner API: https, or http on a loopback host\n',
    )
  })
})
