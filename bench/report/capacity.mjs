/** How far one machine, one Redis and one PostgreSQL carry, computed from the figures of the bench programs. */

/** An access token lives for eight hours, and is renewed after six. */
const renewedEvery = 6 * 3600

export function capacity(results) {
  const cell = (program, name, column) =>
    results[program]?.tables.flatMap(({ rows }) => rows).find((row) => row[''].startsWith(name))?.[column] ?? NaN
  const micros = (program, name) => cell(program, name, 'µs, median')
  const carried = (perRefresh) => `${Math.round((1e6 / perRefresh) * renewedEvery * 1e-6)} million accounts`
  const kilobytes = Math.round(cell('fleet-simulation', 'memory', 'figure') / 100)
  const postgres = micros('sql-store', 'PostgreSQL: read') + 2 * micros('sql-store', 'PostgreSQL: swap')
  const file = micros('file-store', 'read, 10000') + 2 * micros('file-store', 'update, 10000')
  return `## How far it carries

Each account is refreshed every six hours, and its record is 3 KB. Computed from the figures above, with one refresh at a
time, which is the least that a store can do:

- **One process** answers ${cell('express', 'ours, Express', 'calls/s')} proxied calls a second.
- **One machine with a folder** refreshes ${carried(file)}: a read and two durable updates each.
- **One Redis** refreshes ${carried(micros('redis-store', 'a refresh'))}. Its memory ends earlier: a million records are 3 GB.
- **One PostgreSQL** refreshes ${carried(postgres)}: a read and two swaps each.

At ten million accounts, ten times the largest fleet that was simulated, two things come first: the ${Math.round(1e7 / renewedEvery)} requests a second
that the SSO service would have to take, and the memory of that simulation, ${kilobytes} KB for an account with all of its processes.
A process remembers no more than \`cachedAccounts\`.

What takes over then needs no other store: Redis Cluster, by the slot of the account
([test](../../packages/token-store-redis/test/cluster.test.ts), three masters, while slots move), and PostgreSQL's
partitions, by the hash of the account ([test](../../packages/token-store-sql/test/conformance.test.ts)).`
}
