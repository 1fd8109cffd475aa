/**
 * A worker's store, with a window on it: each swap is announced before and after, and can be held up there, so that a
 * process is killed or stopped at exactly that point.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Only what is used is loaded: most of the time of a worker's start goes there. @param settings - see `stores.ts` */
export async function openStore(settings) {
  if (settings.kind === 'file') {
    const { fileTokenStore } = await import('@owner-sso/token-store-file')
    const encryptionKey = settings.key && Uint8Array.from(settings.key)
    return { store: fileTokenStore({ path: settings.path, encryptionKey }), close: async () => {} }
  }
  if (settings.kind === 'postgres') return openPostgres(settings)
  if (settings.kind === 'sqlite') return openSqlite(settings)
  const { redisTokenStore } = await import('@owner-sso/token-store-redis')
  const { createClient } = await import('redis')
  const client = createClient({ url: settings.url, socket: { reconnectStrategy: 20 } })
  // A server that goes away is the test's own doing; the store's errors tell of it.
  client.on('error', () => {})
  await client.connect()
  return { store: redisTokenStore({ client, prefix: settings.prefix }), close: async () => client.destroy() }
}

async function openPostgres({ url, tableName }) {
  const { createTable, sqlTokenStore } = await import('@owner-sso/token-store-sql')
  const { Client, Pool } = (await import('pg')).default
  const limits = { connectionString: url, connectionTimeoutMillis: 2000, query_timeout: 2000 }
  const client = new Pool({ ...limits, max: 4 })
  client.on('error', () => {})
  // Where all processes start at once, a first connection may take longer than a statement may.
  for (let tries = 1; tries < 10 && !(await client.query('SELECT 1').catch(() => undefined)); tries += 1);
  await createTable(client, { tableName })
  let listener
  const subscriber = async () => {
    listener = new Client(limits)
    await listener.connect()
    return listener
  }
  const close = async () => {
    // Not awaited: the server may stand still.
    for (const each of [client, listener]) each?.end().catch(() => {})
  }
  return { store: sqlTokenStore({ client, tableName, subscriber }), close }
}

/** By a library that every Node has. */
async function openSqlite({ path }) {
  const { sqlTokenStore } = await import('@owner-sso/token-store-sql')
  const { default: Database } = await import('libsql')
  const client = new Database(path)
  client.exec('PRAGMA busy_timeout = 100')
  client.exec('PRAGMA synchronous = FULL')
  return { store: sqlTokenStore({ client }), close: async () => client.close() }
}

/** @param report - told each point: `read` (where it is armed, `before-read`), `before-intent`, `after-intent`, `before-result`, … */
export function withWindow(store, report) {
  const armed = new Map()
  const sent = new Map()
  const underWay = new Set()
  let isShut = false

  async function during(start) {
    if (isShut) throw new Error('The store was closed.')
    const operation = start()
    underWay.add(operation)
    try {
      return await operation
    } finally {
      underWay.delete(operation)
    }
  }

  async function reach(point, account) {
    const action = armed.get(point)
    armed.delete(point)
    report({ reached: point, account })
    if (action?.kind === 'wait') await action.until
    if (action?.kind === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, action.milliseconds)
  }

  /** What a swap writes, in the words of the protocol. */
  function kindOf(account, { state, refreshes, intent, refusals }) {
    if (state !== 'signed-in') return state
    if (intent !== undefined) {
      sent.set(account, refreshes)
      return intent.answerLost ? 'doubt' : 'intent'
    }
    if (refusals?.fellBack) return 'fall-back'
    if (refreshes > (sent.get(account) ?? Number.POSITIVE_INFINITY)) return 'result'
    return refreshes === 0 ? 'sign-in' : 'withdrawal'
  }

  return {
    /** At the next such point: held up until the returned function is called, or the whole process blocked. */
    arm(point, action) {
      const { promise, resolve } = withResolvers()
      armed.set(point, action.kind === 'wait' ? { ...action, until: promise } : action)
      return resolve
    },
    /** Nothing is being read or written: stores count their patience, and the protocol its waits, on the clocks that move. */
    async quiet() {
      while (underWay.size > 0) await Promise.allSettled(underWay)
      await nextTurn()
    },
    /** Nothing goes to the store any more: a token manager puts back what it holds and finds lost, as long as its process lives. */
    async shut() {
      isShut = true
      await Promise.allSettled(underWay)
    },
    isQuiet: () => underWay.size === 0,
    store: {
      ...store,
      async read(account) {
        if (armed.has('before-read') && !account.startsWith('owner-sso:')) await reach('before-read', account)
        const stored = await during(() => store.read(account))
        if (!account.startsWith('owner-sso:')) report({ reached: 'read', account })
        return stored
      },
      async swap(account, expected, next, writeId) {
        const kind = kindOf(account, next)
        await reach(`before-${kind}`, account)
        const answer = await during(() => store.swap(account, expected, next, writeId))
        if (!('conflict' in answer)) await reach(`after-${kind}`, account)
        return answer
      },
    },
  }
}

function withResolvers() {
  let resolve
  const promise = new Promise((fulfil) => {
    resolve = fulfil
  })
  return { promise, resolve }
}
