/** The quick starts of the README and the programs of the guides run as they stand, with the packed packages. */
import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { parse } from 'yaml'
import { type CodeBlock, codeBlocksOf, codeIn, documents, typedIn } from '../../support/code-blocks.ts'
import { project, runCommand } from './empty-project.ts'
import { freePort } from '../../support/free-port.ts'
import { describeWithRedis, startRedis } from '../../support/redis-server.ts'
import { answering, newFolder, paste, type PastedProgram, printing, saved, typed } from './pasted-program.ts'
import { type Visitor, visitorOf } from './visitor.ts'

const credential = 'correct horse'
const encryptionKey = Buffer.alloc(32, 1).toString('base64')
const wasRun = new Set<string>()

let emulator: Emulator
beforeEach(async () => {
  emulator = await startEmulator()
})
afterEach(() => emulator.close())

it('README.md: its first program, followed from the empty folder to the vehicles, with and without a second factor', async () => {
  const [install, emulate, run, choose, again, ...others] = typedIn('README.md', 'See vehicles in five minutes')
  expect([install, run, again, others]).toEqual([
    'npm install @owner-sso/core @owner-sso/token-store-memory',
    'node first.mjs',
    'node first.mjs',
    [],
  ])
  const folder = newFolder()
  wasRun.add('first.mjs')
  saved('README.md', 'first.mjs', folder)

  await using service = typed([emulate ?? ''], project)
  await printing(service, /Ctrl-C/u)
  const exports = service.printed().match(/^ +export .+$/gmu) ?? []
  await using first = typed([...exports, run ?? ''], folder)
  expect(await first.ended).toEqual({
    code: 0,
    printed: 'EMULATED000000001 Daily online\nEMULATED000000002 Weekend asleep\n',
  })

  await using second = typed([...exports, choose ?? '', again ?? ''], folder)
  await printing(second, /Passcode of Device #1: $/u)
  const [, shown] = await printing(service, /mfa@example\.com is asked for a passcode: Device #1 (\d{6})/u)
  second.child.stdin?.write(`${shown}\n`)
  expect(await second.ended).toEqual({ code: 0, printed: expect.stringMatching(/ Daily online\n/u) })

  const [, regional] = /^ +(\S+) .*lives in the other region$/mu.exec(service.printed()) ?? []
  await using third = typed([...exports, `export OWNER_SSO_ACCOUNT=${regional}`, run ?? ''], folder)
  expect(await third.ended).toEqual({ code: 0, printed: expect.stringMatching(/^EMULATED.+ Daily online\n/u) })
})

describe("today's service, by one word", () => {
  beforeEach(async () => {
    await emulator.close()
    emulator = await startEmulator({ service: 'current', tokenEndpointAt: 'port' })
  })
  /** What the emulator prints: where its parts are, and the word. */
  const printed = (): NodeJS.ProcessEnv => ({
    OWNER_SSO_SERVICE: 'current',
    OWNER_SSO_REGIONAL_AUTH_URLS: emulator.regionalAuthUrl,
    OWNER_SSO_TOKEN_URL: JSON.stringify({
      [emulator.authUrl]: emulator.tokenUrl,
      [emulator.regionalAuthUrl]: emulator.regionalTokenUrl,
    }),
  })

  it.each(['plain@example.com', 'regional@example.com'])(
    'README.md: its first program prints the vehicles of %s',
    async (account) => {
      await using program = start('README.md', 'first.mjs', { ...printed(), OWNER_SSO_ACCOUNT: account })
      expect(await program.ended).toEqual({
        code: 0,
        printed: 'EMULATED000000001 Daily online\nEMULATED000000002 Weekend asleep\n',
      })
    },
  )

  it('Sign in with Passport: a form, and the vehicles', async () => {
    await using program = await serve('docs/guides/sign-in-with-passport.md', undefined, printed())
    const { get, post } = program.visitor
    expect((await post('/login', { identity: 'plain@example.com', credential })).headers.get('location')).toBe('/')
    expect(await (await get('/')).text()).toContain('Weekend')
  })
})

it.each([
  [{ OWNER_SSO_CREDENTIAL: 'a guess' }, /^ERR_SSO_INVALID_CREDENTIALS: [A-Z][^\n]+\n$/u],
  [{ OWNER_SSO_AUTH_URL: '' }, /^Error: OWNER_SSO_AUTH_URL is not set: [^\n]+\n$/u],
  [{ OWNER_SSO_ACCOUNT: '"plain@example.com"' }, /^TypeError: identity has quotation marks around it[^\n]+\n$/u],
  [{ OWNER_SSO_API_URL: 'http://127.0.0.1:2' }, /^Error: [^\n]+ECONNREFUSED\): look at OWNER_SSO_API_URL\n$/u],
  [{ OWNER_SSO_API_URL: 'the SSO service' }, /^Error: [^\n]+status 404\): look at OWNER_SSO_API_URL\n$/u],
  [{ OWNER_SSO_AUTH_URL: 'the owner API' }, /^ERR_SSO_UNEXPECTED_RESPONSE: [^\n]+look at authUrl[^\n]+\n$/u],
])('README.md: its first program says what is wrong in one line: %s', async (given, words) => {
  const swapped: Record<string, string> = { 'the SSO service': emulator.authUrl, 'the owner API': emulator.ownerApiUrl }
  const environment = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, swapped[value] ?? value]))
  await using program = start('README.md', 'first.mjs', environment)
  expect(await program.ended).toEqual({ code: 1, printed: expect.stringMatching(words) })
})

it('packages/passport/README.md: its quick start answers a sign-in with the user, and says what is missing', async () => {
  await using program = await serve('packages/passport/README.md', 'passport.mjs')
  const { post } = program.visitor
  const wrong = await post('/login', { identity: 'plain@example.com', credential: 'a guess' })
  expect([wrong.status, await wrong.json()]).toEqual([
    401,
    { code: 'ERR_SSO_INVALID_CREDENTIALS', message: expect.stringMatching(/^[A-Z].+\.$/u) },
  ])
  const answer = await post('/login', { identity: 'plain@example.com', credential })
  expect(await answer.json()).toEqual({ account: 'plain@example.com', email: 'plain@example.com' })
  const waiting = await post('/login', { identity: 'mfa@example.com', credential })
  const { factors }: { factors: { id: string }[] } = JSON.parse(await waiting.text())
  const second = await post('/login', { passcode: passcode(), factor: factors[0]?.id ?? '' })
  expect(await second.json()).toMatchObject({ account: 'mfa@example.com' })
})

it.each([
  ['packages/passport/README.md', 'passport.mjs'],
  ['docs/guides/sign-in-with-passport.md', 'sign-in-with-passport.mjs'],
])('%s: its server prints its address, and tells of a port that is taken in a line', async (document, name) => {
  await using program = await serve(document, name)
  const [, port] = await printing(program, /^http:\/\/127\.0\.0\.1:(\d+)\n/u)
  await using other = start(document, name, { PORT: port })
  expect(await other.ended).toEqual({
    code: 1,
    printed: expect.stringMatching(/^listen EADDRINUSE: .+: set PORT .+\n$/u),
  })
})

it('Sign in with Passport: a form, a wrong password, the vehicles, a sign-out', async () => {
  await using program = await serve('docs/guides/sign-in-with-passport.md')
  const { get, post } = program.visitor
  const wrong = await post('/login', { identity: 'plain@example.com', credential: 'a guess' })
  expect([wrong.status, await wrong.text()]).toEqual([401, expect.stringMatching(/^<p>.+<\/p><form/u)])
  expect((await post('/login', { identity: 'plain@example.com', credential })).headers.get('location')).toBe('/')
  expect(await (await get('/')).json()).toMatchObject({ count: 2 })
  expect((await post('/logout')).headers.get('location')).toBe('/login')
  expect((await get('/')).headers.get('location')).toBe('/login')
})

it('Sign in with Passport: signs in behind a proxy that ends TLS', async () => {
  await using program = await serve('docs/guides/sign-in-with-passport.md', undefined, { NODE_ENV: 'production' })
  const { get, post } = program.visitor
  const proxied = { 'x-forwarded-proto': 'https' }
  const answer = await post('/login', { identity: 'plain@example.com', credential }, proxied)
  expect([answer.headers.get('location'), answer.headers.get('set-cookie')]).toEqual([
    '/',
    expect.stringMatching(/; Secure/u),
  ])
  expect(await (await get('/', proxied)).json()).toMatchObject({ count: 2 })
})

it('The second factor, without Passport: asks again after a mistake, and shows no token', async () => {
  await using program = start('docs/guides/second-factor.md', 'second-factor-core.mjs', {
    OWNER_SSO_ACCOUNT: 'mfa@example.com',
  })
  await printing(program, /Passcode of Device #1: $/u)
  program.child.stdin?.write(`${String((Number(passcode()) + 1) % 1_000_000).padStart(6, '0')}\n`)
  await printing(program, /passcode.*\n[^]*Passcode of Device #1: $/iu)
  program.child.stdin?.write(`${passcode()}\n`)
  expect(await program.ended).toMatchObject({
    code: 0,
    printed: expect.stringMatching(/access_token: '\[redacted\]'/u),
  })
  expect(emulator.counters).toMatchObject({ credentialChecks: 2, passcodeChecks: 2 })
})

describe('Regions', () => {
  const environment = { OWNER_SSO_ACCOUNT: 'regional@example.com' }

  it('signs in at an allowed one', async () => {
    const allowed = { ...environment, OWNER_SSO_REGIONAL_AUTH_URLS: emulator.regionalAuthUrl }
    await using program = start('docs/guides/regions.md', 'regions.mjs', allowed)
    expect((await program.ended).printed).toBe(`regional@example.com belongs to ${emulator.regionalAuthUrl}\n`)
  })

  it('says which one is not allowed', async () => {
    await using program = start('docs/guides/regions.md', 'regions.mjs', environment)
    const { printed } = await program.ended
    expect(printed).toContain(`belongs to ${emulator.regionalAuthUrl}, which is not allowed`)
  })
})

it('Where tokens live: signs in once, and finds the tokens again', async () => {
  const folder = newFolder()
  const run = async (): Promise<string> => {
    await using program = start('docs/guides/where-tokens-live.md', 'where-tokens-live.mjs', {}, folder)
    return (await program.ended).printed
  }
  expect([await run(), await run()]).toEqual([
    expect.stringMatching(/^plain@example.com was signed-out; the access token lasts until 2/u),
    expect.stringMatching(/^plain@example.com was valid; /u),
  ])
  expect(emulator.counters.loginPages).toBe(1)
})

describeWithRedis('Running many instances', () => {
  it('takes two of them, one sign-in, and looks at keys', async () => {
    // With the protections that checkRedis asks for.
    await using redis = await startRedis('--appendonly', 'yes', '--maxmemory-policy', 'noeviction')
    const environment = { REDIS_URL: redis.url, API_KEY: 'the key of this test' }
    const credentials = { OWNER_SSO_CREDENTIAL: credential, OWNER_SSO_ENCRYPTION_KEY: encryptionKey }
    await runCommand('owner-sso', ['login', '--account', 'plain@example.com', '--auth-url', emulator.authUrl], {
      ...credentials,
      OWNER_SSO_STORE: redis.url,
    })
    await using one = await serve('docs/guides/many-instances.md', undefined, environment)
    await using other = await serve('docs/guides/many-instances.md', undefined, environment)
    for (const { visitor } of [one, other]) {
      expect((await visitor.get('/api/1/vehicles')).status).toBe(403)
      const answer = await visitor.get('/api/1/vehicles', { 'x-api-key': environment.API_KEY })
      expect(await answer.json()).toMatchObject({ count: 2 })
    }
    expect(await Promise.all([one, other].map(endBySignal))).toEqual([0, 0])
  })
})

describe('Unattended scripts', () => {
  const secret = 'JBSWY3DPEHPK3PXP'
  const environment = {
    OWNER_SSO_ACCOUNT: 'mfa@example.com',
    OWNER_SSO_TOTP_SECRET: secret,
    OWNER_SSO_FACTOR: 'Device #1',
  }
  const poll = (changes: NodeJS.ProcessEnv): PastedProgram =>
    start('docs/guides/unattended-scripts.md', 'poll.mjs', { ...environment, ...changes })

  it('signs in with a passcode of its own, calls, and stops cleanly', async () => {
    await using program = poll({})
    expect((await printing(program, /^.*\n/u))[0]).toMatch(/^\S+Z 200 .*"count":2/u)
    expect(await endBySignal(program)).toBe(0)
  })

  it.each([
    ['a password that is wrong', { OWNER_SSO_CREDENTIAL: 'wrong' }, /^ERR_SSO_INVALID_CREDENTIALS: /u, 1],
    ['no secret', { OWNER_SSO_TOTP_SECRET: undefined }, /^ERR_SSO_PASSCODE_REQUIRED: /u, 1],
    ['another secret', { OWNER_SSO_TOTP_SECRET: 'KRSXG5CTMVRXEZLU' }, /^ERR_SSO_PASSCODE_REJECTED: /u, 1],
    ['no device', { OWNER_SSO_FACTOR: undefined }, /^ERR_SSO_PASSCODE_REQUIRED: /u, 1],
    ['a secret that is none', { OWNER_SSO_TOTP_SECRET: '123456!' }, /^OWNER_SSO_TOTP_SECRET is not base32\n$/u, 0],
    ['no password', { OWNER_SSO_CREDENTIAL: undefined }, /^Not set: OWNER_SSO_CREDENTIAL\n$/u, 0],
  ])('ends with 78 where only a person can help: %s', async (_, changes, words, formPosts) => {
    await using program = poll(changes)
    expect(await program.ended).toEqual({ code: 78, printed: expect.stringMatching(words) })
    expect(emulator.counters.formPosts).toBe(formPosts)
  })

  it('goes on where waiting helps: the owner API is away', async () => {
    await using program = poll({ OWNER_SSO_API_URL: `http://127.0.0.1:${await freePort()}` })
    expect((await printing(program, /^.*\n/u))[0]).toBe('TypeError: fetch failed\n')
    expect(await endBySignal(program)).toBe(0)
  })
})

describe('When the firewall blocks you', () => {
  it.each([
    [true, /^Blocked at login-page; the password was not judged. Try again in 1[5-8] minutes/u],
    [false, /^signed in$/mu],
  ])('says so: %s', async (firewall, words) => {
    if (firewall) emulator.once('login-page', { firewall })
    await using program = start('docs/guides/when-the-firewall-blocks-you.md', 'blocked.mjs')
    expect((await program.ended).printed).toMatch(words)
  })
})

it('The security model: nothing leaks', async () => {
  await using program = start('docs/guides/security-model.md', 'security-model')
  const { printed } = await program.ended
  expect(printed).toMatch(/^ERR_SSO_INVALID_CREDENTIALS form-submission 401 \{ leaks: false \}$/mu)
  expect(printed).toMatch(/operation: 'login'[\s\S]*TokenSet \{\s+access_token: '\[redacted\]'/u)
  expect(printed).not.toMatch(/correct horse|a wrong guess/u)
})

it('Testing with the emulator: the tests pass', async () => {
  await using program = start('docs/guides/testing-with-the-emulator.md', 'testing-with-the-emulator.test.mjs')
  expect(await program.ended).toMatchObject({ code: 0, printed: expect.stringMatching(/^\W pass 4$/mu) })
})

describe('Examples', () => {
  const example = (name: string): PastedProgram => start('docs/guides/examples.md', name)

  it('signs in on the service’s own page', async () => {
    await using program = example('in-the-browser.mjs')
    const [url] = await printing(program, /^http:.*$/mu)
    await printing(program, /Paste its address: $/u)
    program.child.stdin?.write(`${await emulator.signInByHand(url)}\n`)
    expect(await program.ended).toEqual({ code: 0, printed: expect.stringMatching(/plain@example\.com is valid\n$/u) })
  })
})

it('Logging, metrics and traces: pino gets what happens, and no secret', async () => {
  await using program = start('docs/guides/logs-metrics-traces.md', 'watched.mjs')
  const { code, printed } = await program.ended
  const lines = printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect([code, lines.map(({ msg, step, account }) => [msg, step ?? account])]).toEqual([
    0,
    [
      ['step', 'login-page'],
      ['step', 'form-submission'],
      ['step', 'code-exchange'],
      ['traced', undefined],
      ['refreshed', 'plain@example.com'],
    ],
  ])
  expect(printed).not.toMatch(/correct horse|eyJ/u)

  await using wrong = start('docs/guides/logs-metrics-traces.md', 'watched.mjs', { OWNER_SSO_CREDENTIAL: 'a guess' })
  expect((await wrong.ended).printed).toMatch(/"code":"ERR_SSO_INVALID_CREDENTIALS"/u)
  expect((await wrong.ended).printed).not.toMatch(/a guess/u)
})

it('OpenTelemetry: the program of the package’s README prints spans and metrics, and no account', async () => {
  await using program = paste('packages/opentelemetry/README.md', 'traced.mjs', {
    OWNER_SSO_AUTH_URL: emulator.authUrl,
    OWNER_SSO_ACCOUNT: 'plain@example.com',
    OWNER_SSO_CREDENTIAL: credential,
  })
  const { code, printed } = await program.ended
  expect(code).toBe(0)
  for (const name of ['owner_sso.login code-exchange', 'owner_sso.refresh', 'owner_sso.token.served']) {
    expect(printed).toContain(`name: '${name}'`)
  }
  expect(printed).not.toMatch(/plain@|correct horse|eyJ/u)
})

describe('Why was I signed out', () => {
  const document = 'docs/guides/why-signed-out.md'
  const lines = typedIn(document, 'See it in five minutes')
  const settings = (): NodeJS.ProcessEnv => ({
    PATH: `${project}/node_modules/.bin:${dirname(process.execPath)}:${process.env['PATH']}`,
    OWNER_SSO_CREDENTIAL: credential,
  })
  const here = (line: string): string =>
    line.replaceAll('http://127.0.0.1:9000', emulator.authUrl).replaceAll('http://127.0.0.1:9001', emulator.ownerApiUrl)

  it('its commands, typed one after the other, name one cause after the other', async () => {
    const [install, emulate, ...commands] = lines
    expect([install, emulate]).toEqual([
      'npm install --global @owner-sso/cli',
      'owner-sso emulator --port 9000 --owner-api-port 9001',
    ])
    await using program = typed(['set +e', ...commands.map(here)], newFolder(), settings())
    const { printed } = await program.ended
    expect(printed.match(/^plain@example\.com: .*\n.*$/gmu)).toEqual([
      expect.stringMatching(/: It is signed in\.\nThat is likely\. /u),
      expect.stringMatching(/: Another program has used a copy of this refresh token\.\nThat is likely\. /u),
      expect.stringMatching(/: The service rejected this client \(invalid_client\): .*\nThat is sure\.$/u),
    ])
    // What the page shows of it is what it prints.
    const [shown = ''] = codeBlocksOf(document).map(({ code }) => code)
    const form = (text: string): string =>
      text.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d|process \d+|on \S+,|token [\w-]{8}\b/gu, '…').trim()
    expect(form(printed)).toContain(form(shown))
    expect(printed).not.toMatch(/correct horse|eyJ/u)
  })
})

describe('In Next.js and Hono', () => {
  it.each([
    ['a route handler of Next.js', `import { GET as answer } from './route.js'`],
    ['a route of Hono', `import { app } from './hono.js'; const answer = (request) => app.fetch(request)`],
  ])('%s answers a Request with a Response', async (_, handler) => {
    const folder = newFolder()
    for (const name of ['route.js', 'hono.js']) {
      wasRun.add(name)
      saved('docs/guides/frameworks.md', name, folder)
    }
    const account = 'plain@example.com'
    const settings = { OWNER_SSO_AUTH_URL: emulator.authUrl, OWNER_SSO_ENCRYPTION_KEY: encryptionKey }
    await runCommand('owner-sso', ['login', '--account', account, '--auth-url', emulator.authUrl], {
      ...settings,
      OWNER_SSO_CREDENTIAL: credential,
      OWNER_SSO_STORE: `file:${folder}/tokens`,
    })
    const calls = `${handler}
      const to = (init) => answer(new Request('http://localhost/api/vehicles', init))
      const answers = await Promise.all([to({ headers: { 'x-account': '${account}' } }), to()])
      console.log(...(await Promise.all(answers.map(async (each) => [each.status, await each.text()]))).flat())
      const nobody = await to({ headers: { 'x-account': 'nobody@example.com' } })
      console.log(nobody.status, await nobody.text())`
    const run = [`cat > calls.mjs <<'end'\n${calls}\nend`, 'node calls.mjs']
    await using program = typed(run, folder, { ...settings, OWNER_SSO_API_URL: emulator.ownerApiUrl })
    expect(await program.ended).toEqual({
      code: 0,
      printed: expect.stringMatching(/^200 \{.*"count":2.*\} 401 Sign in first\.\n/u),
    })
    expect(program.printed()).toMatch(/^503 Not available now\.$/mu)
    expect(program.printed()).toMatch(/^ERR_SSO_SIGNED_OUT: .+$/mu)
  })
})

interface ComposeFile {
  readonly services: Readonly<
    Record<
      'proxy' | 'portal' | 'broker' | 'db',
      {
        readonly command?: string
        readonly environment?: Readonly<Record<string, string>>
        readonly stop_grace_period?: string
        readonly volumes: readonly string[]
      }
    >
  >
  readonly volumes: object
}

const compose = (): ComposeFile => {
  const block = codeBlocksOf('docs/guides/docker.md').find(({ marks }) => marks['runs'] === 'compose.yaml')
  return parse(block?.code ?? '', { merge: true })
}

describeWithRedis('In Docker', () => {
  it('its proxy answers and stops cleanly; its broker hands out the same token', async () => {
    // With a password, as in the compose file, and its protections.
    await using redis = await startRedis(
      ...(compose().services.db.command ?? '')
        .replace(/\$\{.*?\}/u, 'x')
        .split(' ')
        .slice(1),
    )
    const url = redis.url.replace('//', '//:x@')
    const sealed = { OWNER_SSO_ENCRYPTION_KEY: encryptionKey, OWNER_SSO_STORE: url }
    const settings = { ...sealed, OWNER_SSO_AUTH_URL: emulator.authUrl, OWNER_SSO_API_URL: emulator.ownerApiUrl }
    const ownerSso = (...args: string[]): Promise<string> => runCommand('owner-sso', args, settings)
    await runCommand('owner-sso', ['login', '--account', 'plain@example.com'], {
      ...settings,
      OWNER_SSO_CREDENTIAL: credential,
    })
    await using program = await serve('docs/guides/many-instances.md', undefined, { REDIS_URL: url, API_KEY: 'a key' })
    expect((await program.visitor.get('/api/1/vehicles')).status).toBe(403)
    expect(await (await program.visitor.get('/api/1/vehicles', { 'x-api-key': 'a key' })).json()).toMatchObject({
      count: 2,
    })
    expect(await endBySignal(program)).toBe(0)

    const port = await freePort()
    const command = compose().services.broker.command?.replace('--port 8700', `--port ${port}`) ?? ''
    await using broker = typed([`exec ${project}/node_modules/.bin/${command}`], newFolder(), settings)
    await printing(broker, /status/u)
    const key = await ownerSso('broker', 'invite', 'heating')
    const token = await fetch(`http://127.0.0.1:${port}/token`, { headers: { authorization: `Bearer ${key.trim()}` } })
    expect(await token.text()).toBe((await ownerSso('token')).trim())
    expect(emulator.counters.loginPages).toBe(1)
    expect(await endBySignal(broker)).toBe(0)
  })
})

it('In Docker: the compose file gives each program its settings, a volume for what it keeps, and time to stop', () => {
  wasRun.add('compose.yaml')
  const { services, volumes } = compose()
  const readBy = (document: string, name: string): string[] => {
    const { code = '' } = codeBlocksOf(document).find(({ marks }) => marks['runs'] === name) ?? {}
    const names = [...code.matchAll(/'(AUTH_URL|API_URL|ACCOUNT|ENCRYPTION_KEY)'/gu)].map(
      ([, end]) => `OWNER_SSO_${end}`,
    )
    return [
      ...names,
      ...(code.match(/(?<=')(?:OWNER_SSO_\w+|SESSION_SECRET|REDIS_URL|API_KEY|PORT)(?=')/gu) ?? []),
    ].toSorted()
  }
  expect(Object.keys(services.proxy.environment ?? {}).toSorted()).toEqual(
    [...readBy('docs/guides/many-instances.md', 'many-instances.mjs'), 'OWNER_SSO_STORE'].toSorted(),
  )
  expect(Object.keys(services.portal.environment ?? {}).toSorted()).toEqual(
    readBy('docs/guides/sign-in-with-passport.md', 'sign-in-with-passport.mjs'),
  )
  for (const name of ['proxy', 'broker'] as const) {
    const { OWNER_SSO_STORE: store = '' } = services[name].environment ?? {}
    expect(new URL(store.replace(/\$\{.*\}/u, 'x')).hostname).toBe('db')
  }
  for (const name of ['proxy', 'portal', 'broker'] as const)
    expect(Number.parseInt(services[name].stop_grace_period ?? '', 10)).toBeGreaterThan(45)
  const kept = [...services.db.volumes, ...services.portal.volumes].map((volume) => volume.split(':')[0])
  expect(kept).toEqual(Object.keys(volumes))
  // Where Docker is, it reads the file too.
  const cwd = newFolder()
  saved('docs/guides/docker.md', 'compose.yaml', cwd)
  const env = Object.values(services).flatMap(
    ({ environment = {} }) =>
      Object.values(environment)
        .join()
        .match(/\w+(?=:\?)/gu) ?? [],
  )
  expect(dockerReads(cwd, Object.fromEntries(env.map((name) => [name, 'x'])))).toBe(true)
})

/** Whether Docker can read the compose file of a folder. True where there is no Docker. */
function dockerReads(cwd: string, variables: NodeJS.ProcessEnv = {}): boolean {
  const env = { PATH: process.env['PATH'], ...variables }
  const docker = (...args: string[]): number | null => spawnSync('docker', ['compose', ...args], { cwd, env }).status
  return docker('version') !== 0 || docker('config', '--quiet') === 0
}

describe('The broker in a container', () => {
  const page = 'docs/guides/broker-in-a-container.md'
  const [dockerfile, composeFile] = ['broker/Dockerfile', 'broker/compose.yaml'].map((name) => {
    wasRun.add(name)
    return codeBlocksOf(page).find(({ marks }) => marks['runs'] === name)?.code ?? ''
  }) as [string, string]
  const { services, volumes }: { services: { broker: BrokerService }; volumes: object } = parse(composeFile)
  interface BrokerService {
    readonly command: string
    readonly healthcheck: { readonly test: readonly string[] }
    readonly stop_grace_period: string
  }
  const { broker } = services

  it('is told its health, lets a program in and hands out its token, with the settings of the page and no place but its volume', async () => {
    const folder = newFolder()
    const [, written = ''] = /cat > \.env <<end\n([^]*?)\n *end\n/u.exec(codeIn(page).join('')) ?? []
    const settings = {
      ...Object.fromEntries(written.split('\n').map((line) => line.trim().split(/=(.*)/su).slice(0, 2))),
      OWNER_SSO_AUTH_URL: emulator.authUrl,
      OWNER_SSO_ENCRYPTION_KEY: encryptionKey,
    }
    expect(settings).toMatchObject({ OWNER_SSO_STORE: 'file:/data/tokens' })
    const env = { ...settings, OWNER_SSO_STORE: `file:${folder}/data/tokens`, HOME: '/dev/null' }
    const port = String(await freePort())
    const [program, ...test] = broker.healthcheck.test.slice(1).map((word) => word.replace('8700', port))
    const health = (): number | null => spawnSync(program ?? '', test).status
    expect(health()).toBe(1)

    const line = broker.command.replace('--port 8700', `--port ${port}`)
    await using running = typed([`exec ${project}/node_modules/.bin/${line}`], folder, env)
    await printing(running, /status/u)
    expect(health()).toBe(0)
    const ownerSso = (...args: string[]): Promise<string> =>
      runCommand('owner-sso', args, { ...env, OWNER_SSO_CREDENTIAL: credential })
    expect(await ownerSso('broker', 'code')).toMatch(/^[A-Z2-9-]{19}\n$/u)
    await ownerSso('login', '--account', 'plain@example.com')
    const headers = { authorization: `Bearer ${(await ownerSso('broker', 'invite', 'heating')).trim()}` }
    const token = await (await fetch(`http://127.0.0.1:${port}/token`, { headers })).text()
    expect(token).toBe((await ownerSso('token')).trim())
    expect(await endBySignal(running)).toBe(0)
    expect(running.printed()).toContain('"client":"heating"')
    expect(running.printed()).not.toContain(token)
    expect(readdirSync(folder).toSorted()).toEqual(['data', 'package.json'])
  })

  it('has no rights, can write to its volume alone, is of this machine alone, and has time to stop', () => {
    expect(dockerfile).toMatch(/^FROM node:\d+-alpine$/mu)
    expect(dockerfile).toMatch(/^RUN install -d -o node -g node -m 700 \/data\nUSER node\n$/mu)
    expect(broker).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    expect(broker).toMatchObject({ volumes: ['data:/data'], ports: ['127.0.0.1:8700:8700'], env_file: '.env' })
    expect(Object.keys(volumes)).toEqual(['data'])
    expect(Number.parseInt(broker.stop_grace_period, 10)).toBeGreaterThan(45)
    const folder = newFolder()
    writeFileSync(join(folder, '.env'), '')
    writeFileSync(join(folder, 'compose.yaml'), composeFile)
    expect(dockerReads(folder)).toBe(true)
  })
})

interface ComposedService {
  readonly command: string
  readonly environment: Readonly<Record<string, string>>
  readonly stop_grace_period?: string
}

describeWithRedis('Refresh at home, serve from a server', () => {
  const guide = 'docs/guides/refresh-elsewhere.md'
  const composed = (place: 'home' | 'server'): Readonly<Record<string, ComposedService>> => {
    const name = `compose.${place}.yaml`
    wasRun.add(name)
    return parse(codeBlocksOf(guide).find(({ marks }) => marks['runs'] === name)?.code ?? '').services
  }
  const account = 'plain@example.com'
  const words = /^plain@example\.com: nobody has refreshed since [-\d ]*\d\d:\d\d; it works until [-\d ]*\d\d:\d\d$/mu

  it('leads in five minutes from an empty folder to a server that says when home is off, and goes on when it is back', async () => {
    await using redis = await startRedis('--appendonly', 'yes', '--maxmemory-policy', 'noeviction')
    const lines = typedIn(guide, 'In five minutes, on one machine').map((line) =>
      line
        .replace('http://127.0.0.1:9000', emulator.authUrl)
        .replace('http://127.0.0.1:9001', emulator.ownerApiUrl)
        .replace('redis://127.0.0.1:6379', redis.url),
    )
    const [emulate = '', ...home] = lines
    expect(emulate).toBe('owner-sso emulator --port 9000 --owner-api-port 9001 --access-token-lifetime 180')
    // Nobody waits three minutes here.
    emulator.change({ accessTokenLifetime: 30 })
    const shared = home.findIndex((line) => line.startsWith('set -a'))
    const [read = '', login = '', keep = '', elsewhere = '', serveIt = '', source = '', curl = '', told = ''] =
      home.slice(shared)
    const folder = newFolder()
    const path = `${project}/node_modules/.bin:${dirname(process.execPath)}:${process.env['PATH']}`
    const run = (...script: string[]): PastedProgram =>
      typed(script, folder, { OWNER_SSO_CREDENTIAL: credential, PATH: path })
    await using begun = run(...home.slice(0, shared), read, login)
    expect(await begun.ended).toMatchObject({ code: 0 })
    wasRun.add('server.mjs')
    saved(guide, 'server.mjs', folder)
    const port = await freePort()
    await using server = run(elsewhere, `PORT=${port} ${serveIt.replace('node', 'exec node')}`)
    await answering(`http://127.0.0.1:${port}`, server)
    const called = async (): Promise<string> => {
      await using call = run(source, curl.replace('3000', String(port)))
      return (await call.ended).printed
    }
    expect(await called()).toContain('"count":2')
    await printing(server, words)
    expect(told).toMatch(words)
    expect(emulator.counters.refreshRequests).toBe(0)
    await using refreshing = run(read, `exec ${keep}`)
    await printing(refreshing, /1 refreshed/u)
    expect(await called()).toContain('"count":2')
  })

  it('its compose files: home and server meet over TLS, and nobody else gets in', async () => {
    const { server, redis } = composed('server')
    const { keep, broker } = composed('home')
    const folder = newFolder()
    const [request = ''] = typedIn(guide, 'For good')
    await using made = typed([request.replace('DNS:redis', 'DNS:localhost')], folder)
    expect(await made.ended).toMatchObject({ code: 0 })
    const port = await freePort()
    const filled = (text = ''): string =>
      text
        .replaceAll(/\$\{REDIS_PASSWORD[^}]*\}/gu, 'of-this-test')
        .replaceAll(/(?:--tls-port |:)6379/gu, (found) => found.replace('6379', String(port)))
        .replaceAll(/@(?:redis|\$\{SERVER_NAME[^}]*\})/gu, '@localhost')
        .replaceAll('/tls/', `${folder}/`)
        .replaceAll('/app/', `${folder}/`)
    await using store = typed([`exec ${filled(redis?.command)} --dir ${folder}`], folder)
    await printing(store, /Ready to accept connections/u)
    const own: Readonly<Record<string, string>> = {
      OWNER_SSO_AUTH_URL: emulator.authUrl,
      OWNER_SSO_API_URL: emulator.ownerApiUrl,
      OWNER_SSO_ACCOUNT: account,
      OWNER_SSO_ENCRYPTION_KEY: encryptionKey,
      API_KEY: 'a key',
    }
    const environmentOf = ({ environment = {} }: Partial<ComposedService> = {}): NodeJS.ProcessEnv =>
      Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, own[name] ?? filled(value)]))
    const atHome = environmentOf(keep)
    await runCommand('owner-sso', ['login', '--account', account], { ...atHome, OWNER_SSO_CREDENTIAL: credential })
    await using refreshing = typed([`exec ${project}/node_modules/.bin/${keep?.command}`], newFolder(), atHome)
    await printing(refreshing, /1 account signed in/u)
    expect(server?.command).toBe('node server.mjs')
    await using program = await serve(guide, 'server.mjs', environmentOf(server))
    const answer = await program.visitor.get('/api/1/vehicles', { 'x-api-key': 'a key' })
    expect(await answer.json()).toMatchObject({ count: 2 })
    const withoutCertificate = { ...atHome, NODE_EXTRA_CA_CERTS: '' }
    await expect(runCommand('owner-sso', ['token'], withoutCertificate)).rejects.toMatchObject({ code: 6 })
    for (const { stop_grace_period } of [keep, broker].map((service) => service ?? { stop_grace_period: '' })) {
      expect(Number.parseInt(stop_grace_period ?? '', 10)).toBeGreaterThan(45)
    }
    const read = /'(AUTH_URL|API_URL|ACCOUNT|ENCRYPTION_KEY|STORE)'/gu
    const { code = '' } = codeBlocksOf(guide).find(({ marks }) => marks['runs'] === 'server.mjs') ?? {}
    expect(Object.keys(server?.environment ?? {})).toEqual(
      expect.arrayContaining([
        'API_KEY',
        'OWNER_SSO_REFRESH',
        ...Array.from(code.matchAll(read), ([, end]) => `OWNER_SSO_${end}`),
      ]),
    )
    expect(await endBySignal(program)).toBe(0)
  })

  it('a broker at home, which the server asks', async () => {
    const { broker } = composed('home')
    const folder = newFolder()
    const [request = ''] = typedIn(guide, 'For good')
    const certificate = request
      .replace('DNS:redis', 'DNS:localhost')
      .replace('redis.key', 'home.key')
      .replace('redis.pem', 'home.pem')
    await using made = typed([certificate], folder)
    expect(await made.ended).toMatchObject({ code: 0 })
    const [login, begin, invite, ask = ''] = typedIn(guide, 'A broker at home')
    expect([login, begin, invite]).toEqual([
      'owner-sso login',
      'owner-sso broker --port 8700',
      'owner-sso broker invite server',
    ])
    const settings = {
      OWNER_SSO_AUTH_URL: emulator.authUrl,
      OWNER_SSO_ENCRYPTION_KEY: encryptionKey,
      OWNER_SSO_STORE: `file:${folder}/tokens`,
    }
    await runCommand('owner-sso', ['login', '--account', account], { ...settings, OWNER_SSO_CREDENTIAL: credential })
    const port = await freePort()
    const command = (broker?.command ?? '').replaceAll('8700', String(port)).replace('0.0.0.0', '127.0.0.1')
    const atHome = typed(
      [`exec ${project}/node_modules/.bin/${command.replace(/\$\{HOME_NAME[^}]*\}/u, 'localhost')}`],
      folder,
      settings,
    )
    await using home = atHome
    await printing(home, /status/u)
    const key = await runCommand('owner-sso', ['broker', 'invite', 'server'], settings)
    expect(ask).toMatch(/^BROKER_URL=\S+ BROKER_KEY=… OWNER_SSO_API_URL=\S+ node ask-home\.mjs$/u)
    const asks = (): PastedProgram =>
      start(guide, 'ask-home.mjs', {
        BROKER_URL: `https://localhost:${port}`,
        BROKER_KEY: key.trim(),
        NODE_EXTRA_CA_CERTS: `${folder}/home.pem`,
      })
    await using asked = asks()
    expect(await asked.ended).toEqual({ code: 0, printed: expect.stringMatching(/^200 \{.*"count":2/u) })
    expect(await endBySignal(home)).toBe(0)
    await using again = asks()
    expect((await again.ended).printed).toMatch(
      /^home does not answer \(no connection\)\n[^]*There is no token that works\./u,
    )
    expect(emulator.counters.loginPages).toBe(1)
  })
})

describeWithRedis('In a cluster', () => {
  it('two workers share the tokens and a port; one that is killed is replaced', async () => {
    await using redis = await startRedis('--appendonly', 'yes', '--maxmemory-policy', 'noeviction')
    await runCommand('owner-sso', ['login', '--account', 'plain@example.com', '--auth-url', emulator.authUrl], {
      OWNER_SSO_CREDENTIAL: credential,
      OWNER_SSO_ENCRYPTION_KEY: encryptionKey,
      OWNER_SSO_STORE: redis.url,
    })
    const folder = newFolder()
    saved('docs/guides/many-instances.md', 'many-instances.mjs', folder)
    const port = String(await freePort())
    const settings = { REDIS_URL: redis.url, API_KEY: 'the key of this test', PORT: port }
    await using program = start('docs/guides/many-instances.md', 'cluster.mjs', settings, folder)
    const origin = `http://127.0.0.1:${port}`
    await answering(origin, program)
    const vehicles = async (): Promise<unknown> =>
      (await fetch(`${origin}/api/1/vehicles`, { headers: { 'x-api-key': settings.API_KEY } })).json()
    expect(await vehicles()).toMatchObject({ count: 2 })
    const workers = (): string[] => childrenOf(program.child.pid)
    const [first = '', second = ''] = workers()
    process.kill(Number(first), 'SIGKILL')
    process.kill(Number(second), 'SIGKILL')
    // Until the primary has seen both end, it hands calls to the dead, and nobody answers those.
    const isNew = (worker: string): boolean => worker !== first && worker !== second
    while (workers().filter(isNew).length < 2) await new Promise(setImmediate)
    await answering(origin, program)
    expect(await vehicles()).toMatchObject({ count: 2 })
    expect(emulator.counters.loginPages).toBe(1)
    expect(await endBySignal(program)).toBe(0)
    expect(first).not.toBe('')
  })
})

it('Coming from other clients: takes their tokens along, without a sign-in', async () => {
  const folder = newFolder()
  const sso = await emulator.issueTokens('plain@example.com')
  const other = await emulator.issueTokens('mfa@example.com')
  const cache = {
    'plain@example.com': { url: `${emulator.authUrl}/`, sso },
    'mfa@example.com': { url: `${emulator.authUrl}/`, sso: other },
  }
  writeFileSync(join(folder, 'cache.json'), JSON.stringify(cache))
  await using program = start('docs/guides/coming-from-other-clients.md', 'import.mjs', {}, folder)
  expect(await program.ended).toEqual({ code: 0, printed: 'plain@example.com: valid\nmfa@example.com: valid\n' })
  await using all = start('docs/guides/examples.md', 'several-accounts.mjs', {}, folder)
  expect((await all.ended).printed.split('\n').toSorted()).toEqual([
    '',
    'mfa@example.com: 2 vehicles',
    'plain@example.com: 2 vehicles',
  ])
  expect(emulator.counters).toMatchObject({ loginPages: 0, tokenRefreshes: 0 })
})

it.each(documents.filter(isOurs).flatMap(codeBlocksOf).filter(checksItsSettings))(
  '$document: $marks.runs names the settings that are missing',
  async ({ document, marks: { runs = '' }, code }) => {
    const read = new Set(Array.from(code.matchAll(/process\.env\.(\w+)(?! \?\?)\b/gu), ([, name]) => name ?? ''))
    for (const name of optional) read.delete(name)
    await using program = paste(document, runs, {})
    const { code: exitCode, printed } = await program.ended
    const [, named = ''] = /^(?:Error: )?Not set: (.*)/mu.exec(printed) ?? []
    expect(exitCode).not.toBe(0)
    expect(named.split(', ')).toEqual(expect.arrayContaining([...read]))
  },
)

it('every program that these documents mark as run was run by one of these tests', () => {
  const marked = documents
    .filter(isOurs)
    .flatMap(codeBlocksOf)
    // Without a name, a package's own test runs it.
    .flatMap(({ marks: { runs = '' } }) => (runs === '' ? [] : runs))
  expect([...wasRun].toSorted()).toEqual(marked.toSorted())
})

/** Those whose programs are run here. A package's own tests run those of its README, but for the one with Passport. */
function isOurs(document: string): boolean {
  return /^(?:docs\/.*|README|packages\/passport\/README)\.md$/u.test(document)
}

/** Settings that a program does without. */
const optional = ['OWNER_SSO_REGIONAL_AUTH_URLS', 'OWNER_SSO_FACTOR', 'NODE_ENV', 'PORT']

/** Programs to copy. Quick starts leave it to the packages; a test has its own settings. */
function checksItsSettings({ document, marks: { runs } }: CodeBlock): boolean {
  return !document.endsWith('README.md') && runs?.endsWith('.mjs') === true && !runs.endsWith('.test.mjs')
}

/** A program of a document; a guide's only one is called like its file. */
function start(
  document: string,
  name: string = `${basename(document, '.md')}.mjs`,
  environment: NodeJS.ProcessEnv = {},
  folder?: string,
): PastedProgram {
  wasRun.add(name)
  const settings = {
    OWNER_SSO_AUTH_URL: emulator.authUrl,
    OWNER_SSO_API_URL: emulator.ownerApiUrl,
    OWNER_SSO_ACCOUNT: 'plain@example.com',
    OWNER_SSO_CREDENTIAL: credential,
    OWNER_SSO_ENCRYPTION_KEY: encryptionKey,
    SESSION_SECRET: 'a secret of this test',
  }
  return paste(document, name, { ...settings, ...environment }, folder)
}

/** The same for a server, once it answers. */
async function serve(
  document: string,
  name?: string,
  environment?: NodeJS.ProcessEnv,
): Promise<PastedProgram & { visitor: Visitor }> {
  const port = await freePort()
  const program = start(document, name, { ...environment, PORT: String(port) })
  const origin = `http://127.0.0.1:${port}`
  await answering(origin, program)
  return { ...program, visitor: visitorOf(origin) }
}

/** The exit code after a polite request to stop. */
async function endBySignal({ child, ended }: PastedProgram): Promise<number | null> {
  child.kill('SIGTERM')
  return (await ended).code
}

/** The current passcode of the phone. */
function passcode(): string {
  return emulator.accounts.find(({ identity }) => identity === 'mfa@example.com')?.passcode('Device #1') ?? ''
}

/** The processes that a process has started. */
function childrenOf(parent: number | undefined): string[] {
  return spawnSync('pgrep', ['--parent', String(parent)], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter(Boolean)
}
