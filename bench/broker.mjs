/**
 * A broker for many programs: `node bench/broker.mjs [CLIENTS] [CALLS_A_SECOND] [SECONDS]`.
 *
 * 1,000 clients call 50 times a second in all, at a steady pace: refreshes, GET /token and proxied calls in turns, each with
 * its own key. Next to it, at the same pace and in the same seconds, the bare proxy of `@owner-sso/express`. The figure is the
 * time of a call, of which the ratio counts; then how many calls a second one process can answer at all.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [numberOfClients = 1000, callsPerSecond = 50, seconds = 20] = process.argv.slice(2).map(Number)

const bearer = (key) => ({ authorization: `Bearer ${key}` })
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const folder = await mkdtemp(join(tmpdir(), 'owner-sso-bench-'))
const server = fork(fileURLToPath(new URL('broker/server.mjs', import.meta.url)), [folder, String(numberOfClients)])
try {
  const [{ brokerPort, proxyPort, keys }] = await once(server, 'message')
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const kinds = {
    'bare proxy': () => call(proxyPort, 'GET', '/api/1/vehicles', agent),
    'proxied call': (key) => call(brokerPort, 'GET', '/api/1/vehicles', agent, bearer(key)),
    'GET /token': (key) => call(brokerPort, 'GET', '/token', agent, bearer(key)),
    refresh: (key) =>
      call(brokerPort, 'POST', '/oauth2/v3/token', agent, form, `grant_type=refresh_token&refresh_token=${key}`),
  }
  // Connections, caches and compiled code are there.
  for (const key of keys.slice(0, 100)) for (const kind of Object.values(kinds)) await kind(key)

  const times = Object.fromEntries(Object.keys(kinds).map((name) => [name, []]))
  const pending = []
  const total = callsPerSecond * seconds
  for (let index = 0; index < total; index += 1) {
    const key = keys[index % keys.length]
    const name = Object.keys(kinds)[1 + (index % 3)]
    pending.push(timed(times[name], () => kinds[name](key)))
    if (index % 3 === 0) pending.push(timed(times['bare proxy'], () => kinds['bare proxy'](key)))
    await new Promise((resolve) => setTimeout(resolve, 1000 / callsPerSecond))
  }
  await Promise.all(pending)
  print(times)
  for (const [name, kind] of Object.entries(kinds))
    console.log(`${name}: ${await mostPerSecond(kind, keys)} calls a second`)
  agent.destroy()
} finally {
  server.kill()
  await rm(folder, { recursive: true, force: true })
}

async function timed(into, work) {
  const begin = performance.now()
  const status = await work()
  if (status !== 200) throw new Error(`a call was answered with ${status}`)
  into.push(performance.now() - begin)
}

/** With 50 calls under way all the time, for three seconds. */
async function mostPerSecond(kind, keys) {
  const end = performance.now() + 3000
  let done = 0
  const caller = async (first) => {
    for (let index = first; performance.now() < end; index += 50) {
      await kind(keys[index % keys.length])
      done += 1
    }
  }
  await Promise.all(Array.from({ length: 50 }, (_, index) => caller(index)))
  return Math.round(done / 3)
}

function call(port, method, path, agent, headers = {}, body = '') {
  return new Promise((resolve, reject) => {
    const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) }
    request({ port, host: '127.0.0.1', method, path, agent, headers: { ...headers, ...length } }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode))
    })
      .once('error', reject)
      .end(body)
  })
}

function print(times) {
  const floor = quantile(times['bare proxy'], 0.99)
  const middle = quantile(times['bare proxy'], 0.5)
  console.log(`\n${numberOfClients} clients, ${callsPerSecond} calls a second for ${seconds} s`)
  console.table(
    Object.fromEntries(
      Object.entries(times).map(([name, all]) => [
        name,
        {
          calls: all.length,
          'p50 ms': quantile(all, 0.5).toFixed(2),
          'p99 ms': quantile(all, 0.99).toFixed(2),
          'p50 / bare proxy': (quantile(all, 0.5) / middle).toFixed(2),
          'p99 / bare proxy': (quantile(all, 0.99) / floor).toFixed(2),
        },
      ]),
    ),
  )
}

function quantile(values, part) {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * part)]
}
