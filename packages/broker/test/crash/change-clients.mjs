/**
 * All changes of the clients one after the other, in a process that kills itself at its n-th step:
 * `node change-clients.mjs file|store PATH SECRET N`. A step is before each call that changes a name on the disk, in the middle
 * of what it writes, and after what makes it count; over a token store, before and after each call of it. Says what it has
 * done as soon as that is acknowledged.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [kind, path, secret, deathAt] = process.argv.slice(2)
const { open, link, rename, truncate, unlink } = fs.promises
let steps = 0

function step() {
  steps += 1
  if (steps === Number(deathAt)) process.kill(process.pid, 'SIGKILL')
}

async function writeInHalves(handle, text) {
  const half = text.length >> 1
  await handle.write(text.slice(0, half))
  step()
  await handle.write(text.slice(half))
}

/** Files whose content survives a power failure. Whatever takes the list's name without it, is empty. */
const onDisk = new Set()

async function replace(from, to) {
  // A lock that is lost with the machine is free.
  if (to === path && !onDisk.has(from)) await truncate(from)
  await rename(from, to)
}

function mortal(call, isLast = true) {
  return async (...args) => {
    step()
    const result = await call(...args)
    if (isLast) step()
    return result
  }
}

if (kind === 'file') {
  // Between one such call and the next one, nothing changes.
  Object.assign(fs.promises, { link: mortal(link, false), rename: mortal(replace), unlink: mortal(unlink, false) })
  fs.promises.writeFile = async (file, text, { flag, mode, flush }) => {
    const handle = await open(file, flag, mode)
    await writeInHalves(handle, text)
    if (flush) onDisk.add(file)
    await handle.close()
  }
  syncBuiltinESMExports()
}

const { brokerClients } = await import('../../dist/clients/broker-clients.js')
const clients = brokerClients(kind === 'file' ? { file: path } : { store: await mortalStore() })
const say = (what, done) => fs.writeSync(1, `${what} ${done}\n`)
say('invite', (await clients.invite({ name: 'new', accounts: ['ann@example.com'] })).refresh_token)
say('refresh', await clients.replaceSecret(secret, 60))
say('rotate', (await clients.rotate('victim')).refresh_token)
say('revoke', await clients.revoke('victim'))

async function mortalStore() {
  const { fileTokenStore } = await import('@owner-sso/token-store-file')
  const store = fileTokenStore({ path, encryptionKey: Buffer.alloc(32, 7) })
  return { ...store, read: mortal((...call) => store.read(...call)), swap: mortal((...call) => store.swap(...call)) }
}
