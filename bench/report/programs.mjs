/**
 * The bench programs of the report, in its order: what each is about, how it is called, and what its charts show.
 *
 * A chart is drawn of each table that has the column `value`, a curve of each where `isCurve`; `ours` tells our rows from peers and floors by their names. `floor` is where the floor stands on it, `budget` a column, a
 * figure, or a function of a row's name.
 */
export const programs = [
  {
    name: 'hot-path',
    ours: /^getAccessToken/u,
    heading: 'A valid access token from memory',
    text: 'Beside an awaited Map look-up with a glance at the clock.',
    value: 'to the floor',
    floor: 1,
    budget: 1.3,
  },
  {
    name: 'login',
    ours: /^owner-sso/u,
    heading: 'A login',
    text: 'CPU time of one login over TLS 1.2. The floor is bare `node:https` with a stream parser, which checks nothing.',
    args: ['50'],
    value: 'to the floor',
    floor: 1,
    budget: 'budget',
  },
  {
    name: 'express',
    ours: /^ours/u,
    heading: 'A proxied call of the owner API',
    text: 'CPU time of one call, beside the same work by hand.',
    value: 'ratio',
    floor: 1,
    budget: 'budget',
  },
  {
    name: 'file-store',
    ours: /^(?:update|read|flat)/u,
    heading: 'The file store',
    text: 'A durable update beside `write-file-atomic`, a read beside `readFile` and `JSON.parse`.',
    value: 'ratio',
    floor: 1,
    budget: (row) =>
      row.startsWith('read,') ? 1.3 : row.startsWith('update,') ? 1.2 : row.startsWith('flat') ? 1.5 : undefined,
  },
  {
    name: 'redis-store',
    ours: /^(?:update|read|a refresh)/u,
    heading: 'The Redis store',
    text: 'Beside a bare GET with `JSON.parse`, and a bare SET.',
    value: 'ratio',
    floor: 1,
    budget: 'budget',
  },
  {
    name: 'sql-store',
    ours: /read|update|refresh|swap/u,
    heading: 'The SQL store',
    text: 'Beside a bare SELECT with `JSON.parse` over the same connection, on PostgreSQL and SQLite.',
    value: 'ratio to the bare query',
    floor: 1,
    budget: 'budget',
  },
  {
    name: 'herd',
    ours: /./u,
    heading: 'Everybody asks at once',
    text: 'An access token has expired, and 8 processes × 25 callers ask: how long the slowest waits beyond the one refresh.',
    value: 'beyond the refresh, ms',
    floor: 0,
    budget: 'budget, ms',
  },
  {
    name: 'broker',
    ours: /^(?!bare)/u,
    heading: 'The broker',
    text: 'Calls of a thousand clients at a steady pace, beside the bare proxy.',
    value: 'p99 / bare proxy',
    floor: 1,
  },
  {
    name: 'pages',
    ours: /^(?:portal|broker)/u,
    heading: 'Pages of the portal and of the broker',
    text: 'The slowest of a hundred answers, beside a bare Express page of the same bytes. What most Express applications have, a session and Passport, costs most of the difference.',
    value: 'ratio',
    floor: 1,
    budget: 'budget',
  },
  {
    name: 'fleet-simulation',
    ours: /./u,
    heading: 'A fleet within its budget',
    text: 'Token managers and keepers on a virtual clock: ratios to the mean minute and to the budget. [Larger fleets](../guides/fleets.md#how-it-was-tested) were tested too.',
    args: ['--accounts', '100000', '--processes', '16', '--days', '0.25', '--settle', '0.3'],
    value: 'ratio',
    floor: 1,
    budget: 'budget',
  },
  {
    name: 'scale',
    heading: 'As the work grows',
    text: 'Each cost beside its floor, or beside the smallest fleet. Flat is good.',
    isCurve: true,
  },
  {
    name: 'cold-start',
    ours: /^owner-sso/u,
    heading: 'The cold start of a function',
    text: 'CPU time of a process from its start to its first access token, beside a bare `node -e 0`.',
    value: 'ratio',
    floor: 1,
  },
  {
    name: 'cli-start',
    ours: /^(?!bare)/u,
    heading: 'The command line',
    text: 'CPU time of a whole call, beside a bare `node -e 0`.',
    value: 'ratio',
    floor: 1,
    budget: 'budget',
  },
  {
    name: 'package-size',
    ours: /^@owner-sso/u,
    heading: 'What an installation brings',
    text: 'Eight of our packages and some comparable ones, each installed into an empty project of its own.',
    value: 'installed kB',
    floor: 0,
  },
]

/** How somebody runs one of them. */
export const commandOf = ({ name, args = [] }) => ['node', `bench/${name}.mjs`, ...args].join(' ')
