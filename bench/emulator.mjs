/**
 * The emulator as a product: how soon it is there, how many logins it takes, and what it holds on to. `node
 * bench/emulator.mjs [LOGINS]`, default 10,000.
 *
 * The start is that of the command, until it has printed its addresses, beside a bare `node -e 0` in the same turns. A
 * login is the document's three requests, by a client of a few lines on kept connections. Memory is what the emulator's
 * process holds on to after a collection (its resident set is larger: V8 keeps room): at the start, after all logins, and
 * after as many again, since what is bounded does not grow for ever. Ratios and budgets count; times tell of the machine.
 */
import { fork, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const logins = Number(process.argv[2] ?? 10_000)
const [rounds, atOnce] = [9, 25]
const budgets = { startSeconds: 1, megabytesAfter: 160 }
const command = fileURLToPath(new URL('../packages/emulator/dist/cli.js', import.meta.url))

const starts = { 'bare node': [], emulator: [], 'emulator --tls': [] }
for (let round = 0; round < rounds; round += 1) {
  starts['bare node'].push(await secondsUntil(['-e', 'console.log(0)'], /0/u))
  starts.emulator.push(await secondsUntil([command], /owner API/u))
  starts['emulator --tls'].push(await secondsUntil([command, '--tls'], /owner API/u))
}
const bare = Math.min(...starts['bare node'])
const startRow = (times) => ({
  'best, s': rounded(Math.min(...times)),
  'median, s': rounded(median(times)),
  'best to bare node': rounded(Math.min(...times) / bare),
  'budget, s': budgets.startSeconds,
})
console.table(Object.fromEntries(Object.entries(starts).map(([name, times]) => [name, startRow(times)])))

const service = fork(fileURLToPath(new URL('emulator/process.mjs', import.meta.url)), { execArgv: ['--expose-gc'] })
const [{ authUrl }] = await once(service, 'message')
const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
await run(200)
const rows = { 'at the start': await memory() }
for (const name of [`after ${logins} logins`, 'after as many again']) {
  const began = performance.now()
  await run(logins)
  const seconds = (performance.now() - began) / 1000
  rows[name] = {
    'logins a second': Math.round(logins / seconds),
    ...(await memory()),
    'budget, MiB': budgets.megabytesAfter,
  }
}
console.table(rows)
agent.destroy()
service.disconnect()

async function secondsUntil(args, pattern) {
  const began = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  for await (const chunk of child.stdout) if (pattern.test((said += chunk))) break
  const seconds = (performance.now() - began) / 1000
  child.kill()
  return seconds
}

async function memory() {
  service.send('memory')
  const [{ heapUsed, rss }] = await once(service, 'message')
  return { 'held, MiB': megabytes(heapUsed), 'resident, MiB': megabytes(rss) }
}

function megabytes(bytes) {
  return Math.round(bytes / 1024 ** 2)
}

async function run(count) {
  let left = count
  const client = async () => {
    while (left-- > 0) await login()
  }
  await Promise.all(Array.from({ length: atOnce }, client))
}

async function login() {
  const verifier = randomBytes(43).toString('hex')
  const challenge = Buffer.from(createHash('sha256').update(verifier).digest('hex')).toString('base64url')
  const redirectUri = `${authUrl}/void/callback`
  const query = new URLSearchParams({
    client_id: 'ownerapi',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email offline_access',
    state: 'a state',
  })
  const page = await send('GET', `/oauth2/v3/authorize?${query}`)
  const form = new URLSearchParams({ identity: 'plain@example.com', credential: 'correct horse' })
  for (const [, name, value] of page.body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)" \/>/gu)) {
    if (name !== 'disabled_field') form.set(decode(name), decode(value))
  }
  const cookie = page.headers['set-cookie'].map((each) => each.split(';', 1)[0]).join('; ')
  const type = 'application/x-www-form-urlencoded'
  const redirect = await send(
    'POST',
    `/oauth2/v3/authorize?${query}`,
    { cookie, 'content-type': type },
    form.toString(),
  )
  const code = new URL(redirect.headers.location).searchParams.get('code')
  const fields = { grant_type: 'authorization_code', client_id: 'ownerapi', code, code_verifier: verifier }
  const exchange = JSON.stringify({ ...fields, redirect_uri: redirectUri })
  const tokens = await send('POST', '/oauth2/v3/token', { 'content-type': 'application/json' }, exchange)
  if (!tokens.body.includes('access_token')) throw new Error(`a login failed with ${tokens.status}`)
}

async function send(method, path, headers = {}, body = '') {
  const [answer] = await once(request(authUrl + path, { method, headers, agent }).end(body), 'response')
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

function decode(value) {
  const named = { amp: '&', lt: '<', gt: '>', quot: '"' }
  return value.replaceAll(/&(?:#x([0-9a-f]+)|(\w+));/gu, (_all, hex, name) =>
    hex === undefined ? named[name] : String.fromCodePoint(Number.parseInt(hex, 16)),
  )
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

function rounded(value) {
  return Number(value.toFixed(2))
}
