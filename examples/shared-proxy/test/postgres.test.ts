/** The gateway over PostgreSQL: one variable, and everything else as over Redis. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import { call, callMany, deploy, endAll, life, metric } from './deployment.ts'
import { type Instance, run } from './instance.ts'
import { describeWithPostgres, type PostgresServer, startPostgres } from '../../../tests/support/postgres-server.ts'

async function readiness({ url }: Instance): Promise<unknown> {
  const { status, body } = await call(`${url}/readyz`)
  return { status, ...JSON.parse(body) }
}

async function comes(state: object, instance: Instance): Promise<void> {
  const until = performance.now() + 30_000
  while (performance.now() < until) {
    const seen = await readiness(instance)
    if (JSON.stringify(seen).includes(JSON.stringify(state).slice(1, -1))) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  expect(await readiness(instance)).toMatchObject(state)
}

describeWithPostgres('instances with OWNER_SSO_STORE=postgres://…', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres({ withPassword: ['tokens'] })
    await server.query("CREATE ROLE tokens LOGIN PASSWORD 'hush'")
    await server.query('GRANT CREATE ON SCHEMA public TO tokens')
  }, 120_000)
  afterEach(endAll)
  afterAll(() => server?.stop())

  it('make their table, refresh once for all, go on after a server that dies, and end in order', async () => {
    const storeUrl = server.url.replace('postgres@', 'tokens:hush@').replace('postgresql:', 'postgres:')
    const deployment = await deploy({ instances: 3, storeUrl })
    const { emulator, instances } = deployment
    const [first] = instances as [Instance, ...Instance[]]
    expect(await readiness(first)).toEqual({ status: 200, ready: true, store: 'up', firewall: 'clear', closing: false })
    await deployment.pass(life)
    const answers = await Promise.all(instances.map(({ url }) => callMany(url, 100)))
    expect(answers).toEqual([{ 200: 100 }, { 200: 100 }, { 200: 100 }])
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })

    await server.kill()
    expect(await call(`${first.url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    await comes({ store: 'down' }, first)
    expect(await metric(first, 'owner_sso_store_up')).toBe(0)
    await server.start()
    await comes({ store: 'up' }, first)
    expect(first.printed().match(/store-down/gu)).toHaveLength(1)

    expect(await Promise.all(instances.map((instance) => instance.signal('SIGTERM')))).toEqual([0, 0, 0])
    for (const { printed } of instances) expect(printed()).not.toContain('hush')
  }, 180_000)

  it('say what is wrong with a password, once, and take a server that comes later', async () => {
    const wrong = server.url.replace('postgres@', 'tokens:wrong@')
    const program = run('main', {
      environment: {
        ...(await deploy({ instances: 0, storeUrl: server.url })).environment,
        OWNER_SSO_STORE: wrong,
        PORT: '0',
      },
    })
    await program.prints(/"store-down","code":"28P01"/u)
    await program.prints(/"listening"/u)
    await program.prints(/"store-warning".*user name and password/u)
    await server.query("ALTER ROLE tokens PASSWORD 'wrong'")
    await program.prints(/"store-connected"/u)
    expect(program.printed().match(/user name and password/gu)).toHaveLength(1)
    program.child.kill('SIGTERM')
    expect(await program.exitCode).toBe(0)
    expect(program.printed()).not.toContain('wrong@')
  }, 60_000)
})
