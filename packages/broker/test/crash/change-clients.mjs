/**
 * All changes of the clients one after the other, in a process that kills itself at its n-th step:
 * `node change-clients.mjs STORE N`. A step is before and after each call of the store. Says what it has done as soon
 * as that is acknowledged.
 */
import { writeSync } from 'node:fs'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { brokerClients } from '../../dist/index.js'

const [path, deathAt] = process.argv.slice(2)
let steps = 0

function step() {
  steps += 1
  if (steps === Number(deathAt)) process.kill(process.pid, 'SIGKILL')
}

function mortal(call) {
  return async (...args) => {
    step()
    const result = await call(...args)
    step()
    return result
  }
}

const store = fileTokenStore({ path, encryptionKey: Buffer.alloc(32, 7) })
const clients = brokerClients({ store: { ...store, read: mortal(store.read), swap: mortal(store.swap) } })
const say = (what, done) => writeSync(1, `${what} ${done}\n`)
say('invite', (await clients.invite({ name: 'new', accounts: ['ann@example.com'] })).refresh_token)
say('rotate', (await clients.rotate('victim')).refresh_token)
say('revoke', await clients.revoke('victim'))
