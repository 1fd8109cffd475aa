/**
 * One process of an application: a token manager over the shared store, told what to do by its parent's messages.
 *
 * Tokens stay in the process: the parent hears their fingerprints and whose they are.
 */
import { moveClocks, setClocks, startClocks, stopClocks } from './worker-clock.mjs'
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSso, createTokenManager, keepSignedIn } from '@owner-sso/core'
import { ownerFetch } from '@owner-sso/express'
import { openStore, withWindow } from './worker-store.mjs'

const eventNames = [
  'refreshed',
  'refreshed-token-refused',
  'not-refreshed',
  'refresh-failed',
  'in-doubt',
  'unsaved',
  'carried-over',
  'superseded',
  'restored',
  'reauthentication-required',
  'blocked',
]

let sso
let tokens
let window
let keeper
let closeStore = async () => {}
let release = () => {}
const kept = new Map()

const commands = {
  async open({ service, manager, store, clocks }) {
    await closeStore()
    setClocks(clocks)
    const opened = await openStore(store)
    const own = withWindow(opened.store, report)
    window = own
    closeStore = async () => {
      await keeper?.stop()
      keeper = undefined
      await own.shut()
      await opened.close()
    }
    sso = createSso(service)
    const spool = manager.spool && (await openStore(manager.spool)).store
    tokens = createTokenManager({ issuer: sso, store: window.store, ...manager, spool })
    for (const name of eventNames) {
      tokens.on(name, ({ error, ...facts }) =>
        report({ event: name, ...facts, ...(error && { error: codeOf(error) }) }),
      )
    }
  },
  close: () => closeStore(),
  async move(by) {
    await window.quiet()
    moveClocks(by)
  },
  stopClocks,
  startClocks,
  /** As many calls at once as there are callers; how each ended. */
  async ask({ account, callers }) {
    const answers = await Promise.allSettled(Array.from({ length: callers }, () => tokens.getAccessToken(account)))
    const given = answers.filter(({ status }) => status === 'fulfilled').map(({ value }) => value)
    const failures = answers.filter(({ status }) => status === 'rejected').map(({ reason }) => codeOf(reason))
    return {
      tokens: counted(given.map(fingerprint)),
      failures: counted(failures),
      owners: [...new Set(given.map(ownerOf))],
      comeBackIn: Math.max(0, ...answers.map(comeBackIn)),
    }
  },
  signIn: ({ account, tokenSet }) => tokens.save(account, tokenSet),
  async logIn({ account, ...credentials }) {
    await tokens.save(account, await sso.login(credentials))
  },
  signOut: ({ account }) => tokens.forget(account),
  /** Keeps all accounts signed in from now on. */
  keepSignedIn({ options }) {
    keeper = keepSignedIn(tokens, options)
  },
  refresh: ({ account }) => tokens.refresh(account),
  status: ({ account }) => tokens.status(account),
  history: ({ account }) => tokens.history(account),
  /** Nothing that this process has begun is half done: no request, no read, no write. It may wait for another's. */
  async calm() {
    do {
      await tokens.settled()
      await nextTurn()
    } while (!window.isQuiet())
    await tokens.settled()
  },
  /** Calls of the owner API with the current token, all at once; each 401 is told to the manager. Returns their statuses. */
  async useOwnerApi({ account, url, callers }) {
    const call = async () => {
      const accessToken = await tokens.getAccessToken(account)
      const { status } = await fetch(url, { headers: { authorization: `Bearer ${accessToken}` } })
      if (status === 401) await tokens.invalidate(account, accessToken)
      return status
    }
    return counted(await Promise.all(Array.from({ length: callers }, call)))
  },
  /** Calls of the owner API as an application makes them, all at once: what its callers see of it, as statuses. */
  async call({ account, ownerApiUrl, callers }) {
    const call = ownerFetch({ tokens, account, target: ownerApiUrl })
    const statusOf = async () =>
      call('/api/1/vehicles').then(
        ({ status }) => status,
        (error) => codeOf(error),
      )
    return counted(await Promise.all(Array.from({ length: callers }, statusOf)))
  },
  /** Remembers the current token under a name, for `invalidate`. */
  async keep({ account, name }) {
    kept.set(name, await tokens.getAccessToken(account))
  },
  invalidate: ({ account, name }) => tokens.invalidate(account, kept.get(name)),
  arm({ point, action }) {
    release = window.arm(point, action)
  },
  release: () => release(),
}

/** A service would stop answering first; this one has nothing else to stop. */
process.on('SIGTERM', () => void tokens.settled().then(() => process.exit(0)))
process.on('disconnect', () => process.exit(0))
process.on('message', (message) => void obey(message))

async function obey({ id, command, ...details }) {
  try {
    report({ id, value: (await commands[command](details)) ?? null })
  } catch (error) {
    report({ id, failure: codeOf(error) })
  }
}

function report(message) {
  if (process.connected) process.send(message)
}

function codeOf({ code, reason, message }) {
  return code === undefined ? message : [code, reason].filter(Boolean).join(':')
}

/** Milliseconds that a failed call says to wait, by this process's clock. */
function comeBackIn({ reason }) {
  return reason?.nextAttemptAt === undefined ? 0 : reason.nextAttemptAt * 1000 - Date.now()
}

const fingerprint = (token) => createHash('sha256').update(token).digest('base64url').slice(0, 12)

/** `sub` of the token, so that the test can tell one sign-in from another. */
function ownerOf(token) {
  const [, claims] = token.split('.')
  return claims === undefined ? 'opaque' : JSON.parse(Buffer.from(claims, 'base64url')).sub
}

function counted(values) {
  const counts = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}
