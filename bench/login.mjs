/**
 * What a login costs its client: `node bench/login.mjs [LOGINS]`, default 100 a round, after `npm run build`.
 *
 * CPU time of the client's process for one login over TLS 1.2, plain and with a second factor, one at a time and 50 at once.
 * The floor is bare `node:https` with one agent for all logins and a stream parser: it shares connections between accounts,
 * and checks nothing. Beside it axios with tough-cookie and cheerio, with an agent for all and with one for each login
 * (`login/shapes.mjs`). Each shape is a process of its own, and they take turns. Ratios count; times tell of the machine.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const logins = Number(process.argv[2] ?? 100)
const rounds = 5
const budget = 2.5
const names = ['floor', 'axios, an agent for all', 'axios, an agent a login', 'owner-sso']
const kinds = [
  { kind: 'plain, 1 at once', atOnce: 1, second: false },
  { kind: 'plain, 50 at once', atOnce: 50, second: false },
  { kind: 'second factor, 1 at once', atOnce: 1, second: true },
  { kind: 'second factor, 50 at once', atOnce: 50, second: true },
]

const path = (name) => fileURLToPath(new URL(`login/${name}`, import.meta.url))
const service = fork(path('service.mjs'), [String(logins * rounds * names.length * 2 + logins * names.length)])
const [start] = await once(service, 'message')
const clients = new Map(names.map((name) => [name, fork(path('client.mjs'), [name], { execArgv: ['--expose-gc'] })]))
for (const client of clients.values()) await ask(client, { start })

let used = 0
for (const name of names) await run(name, kinds[0])
for (const { kind, ...rest } of kinds) {
  const times = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) times[name].push(await run(name, rest))
  }
  const floor = median(times.floor)
  const rows = names.map((name) => [
    name,
    {
      'CPU ms a login': rounded(median(times[name])),
      'to the floor': rounded(median(times[name]) / floor),
      budget: name === 'owner-sso' ? budget : '',
    },
  ])
  console.log(kind)
  console.table(Object.fromEntries(rows))
}
for (const client of clients.values()) client.disconnect()
service.disconnect()

async function run(name, { atOnce, second }) {
  const { passcode } = second ? await ask(service, {}) : {}
  const identities = Array.from({ length: logins }, () => (second ? `mfa-${used++}@example.com` : 'plain@example.com'))
  return (await ask(clients.get(name), { identities, passcode, atOnce })).cpu
}

async function ask(child, message) {
  child.send(message)
  const [answer] = await once(child, 'message')
  return answer
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

function rounded(value) {
  return Number(value.toFixed(2))
}
