/**
 * Pages of the portal and of the broker, 50 at once, beside Express pages by hand: `node bench/pages.mjs [ROUNDS] [SECONDS] [CONNECTIONS]`.
 *
 * Pages by hand send the same bytes as the portal's sign-in page. All pages take turns in one server process; a ratio is the
 * median over the rounds of both figures of one round. Code is compiled before. The owner API, which the home page asks, is a process of its own.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const [rounds = 5, seconds = 2, connections = 50] = process.argv.slice(2).map(Number)

const start = (file) =>
  fork(fileURLToPath(new URL(file, import.meta.url)), { env: { ...process.env, NODE_ENV: 'production' } })
const server = start('pages/server.mjs')
const [pages] = await once(server, 'message')
const load = start('express/load.mjs')
const ask = async (child, message = {}) => {
  child.send(message)
  return (await once(child, 'message'))[0]
}

const figures = pages.map((page) => ({ page, p99: [], micros: [] }))
for (const { page } of figures) await measured(page, { milliseconds: 60_000, count: 1000 })
for (let round = 0; round < rounds; round += 1) {
  for (const { page, p99, micros } of figures) {
    const result = await measured(page)
    p99.push(result.p99)
    micros.push(result.cpu / result.done)
  }
}
server.kill()
load.kill()

const [floor] = figures
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
const ratio = (name, each) => Number(median(each[name].map((value, round) => value / floor[name][round])).toFixed(2))
console.log(`${connections} at once, ${rounds} × ${seconds} s`)
console.table(
  Object.fromEntries(
    figures.map((each) => [
      each.page.name,
      {
        'p99 ms': Number(median(each.p99).toFixed(1)),
        ratio: ratio('p99', each),
        'CPU ratio': ratio('micros', each),
        budget: /^(?:portal|broker)/u.test(each.page.name) ? 1.5 : '',
      },
    ]),
  ),
)

async function measured({ name, port, path, cookie }, length = { milliseconds: seconds * 1000 }) {
  const before = await ask(server)
  const result = await ask(load, { port, path, cookie, connections, ...length })
  if (result.failed > 0) throw new Error(`${name}: ${result.failed} calls failed`)
  return { ...result, cpu: (await ask(server)) - before }
}
