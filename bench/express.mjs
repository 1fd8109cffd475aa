/**
 * Proxied calls of the owner API, side by side: `node bench/express.mjs [ROUNDS] [SECONDS] [CONNECTIONS] [NAME]`.
 *
 * All candidates of a table run in one go, in turns, each in a process of its own; the figure is the CPU time of that
 * process for one call. A ratio is the median over the rounds of both figures of one round: ratios count, times do not.
 * `NAME` picks the candidates whose name contains it. Each has answered 10,000 calls before: on a busy machine a second is too
 * short for code to be compiled.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { candidates, ratios } from './express/candidates.mjs'

const [rounds = 5, seconds = 3, connections = 50] = process.argv.slice(2, 5).map(Number)
const wanted = process.argv[5] ?? ''
const names = Object.keys(candidates).filter((name) => name.includes(wanted))

const start = async (file, args = [], env = {}) => {
  const child = fork(fileURLToPath(new URL(`express/${file}.mjs`, import.meta.url)), args, {
    env: { ...process.env, NODE_ENV: 'production', ...env },
  })
  const [hello] = file === 'load' ? [] : await once(child, 'message')
  const ask = async (message = {}) => {
    child.send(message)
    const [answer] = await once(child, 'message')
    return answer
  }
  return { ...hello, ask, stop: () => child.kill() }
}

const upstream = await start('upstream')
const load = await start('load')
for (const version of ['1.1', '2']) for (const scheme of ['http', 'tls']) await table(scheme, version)
load.stop()
upstream.stop()

async function table(scheme, version) {
  const target = `${scheme === 'tls' ? 'https' : 'http'}://127.0.0.1:${upstream.ports[scheme]}`
  const proxies = []
  for (const name of names.filter((each) => version === '1.1' || !/Express|httpxy/u.test(each))) {
    const proxy = await start('proxy', [name, version], { BENCH_TARGET: target, BENCH_CA: upstream.ca })
    const calls = { port: proxy.port, version }
    const sequential = await connectionsForTwenty(calls)
    await load.ask({ ...calls, connections, milliseconds: 60_000, count: 10_000 })
    proxies.push({ name, proxy, calls, sequential, micros: [], rates: [], p99: [], failed: 0 })
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const entry of proxies) await measure(entry)
  }
  print(scheme, version, proxies)
  for (const { proxy } of proxies) proxy.stop()
}

async function measure(entry) {
  const before = await entry.proxy.ask()
  const { done, failed, p99 } = await load.ask({ ...entry.calls, connections, milliseconds: seconds * 1000 })
  const after = await entry.proxy.ask()
  const cpu = after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system
  entry.micros.push(cpu / done)
  entry.rates.push(done / seconds)
  entry.p99.push(p99)
  entry.failed += failed
}

/** Of a proxy that has made none yet. */
async function connectionsForTwenty(calls) {
  const before = await upstream.ask()
  await load.ask({ ...calls, connections: 1, milliseconds: 5000, count: 20 })
  return (await upstream.ask()).connections - before.connections
}

function print(scheme, version, proxies) {
  const all = Object.fromEntries(proxies.map(({ name, micros }) => [name, micros]))
  const ratio = (name, floor) =>
    all[floor] ? Number(median(all[name].map((figure, round) => figure / all[floor][round])).toFixed(2)) : ''
  console.log(
    `\nHTTP/${version}, ${scheme === 'tls' ? 'TLS 1.2' : 'http'} upstream, ${connections} at once, ${rounds} × ${seconds} s`,
  )
  console.table(
    Object.fromEntries(
      proxies.map(({ name, micros, rates, p99, failed, sequential }) => {
        const { floor, budget } = candidates[name]
        return [
          name,
          {
            'CPU µs/call': Math.round(median(micros)),
            least: Math.round(Math.min(...micros)),
            'calls/s': Math.round(median(rates)),
            'p99 ms': Number(median(p99).toFixed(1)),
            'connections of 20 calls': sequential,
            failed,
            ratio: ratio(name, floor),
            budget: budget ?? '',
            of: floor ?? '',
          },
        ]
      }),
    ),
  )
  for (const [name, floor, budget] of ratios) {
    if (all[name] && all[floor]) console.log(`${name} / ${floor}: ${ratio(name, floor)} (budget ${budget})`)
  }
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
