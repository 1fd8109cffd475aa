/**
 * All changes of the clients one after the other, in a process that kills itself at its n-th step, which is before or after
 * a call of the file system: `node change-clients.mjs FILE SECRET N`. Says what it has done as soon as that is acknowledged.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [file, secret, deathAt] = process.argv.slice(2)
let steps = 0

function step() {
  steps += 1
  if (steps === Number(deathAt)) process.kill(process.pid, 'SIGKILL')
}

for (const name of ['open', 'link', 'readdir', 'readFile', 'realpath', 'rename', 'stat', 'unlink', 'writeFile']) {
  const original = fs.promises[name]
  fs.promises[name] = async (...call) => {
    step()
    const result = await original(...call)
    step()
    return result
  }
}
syncBuiltinESMExports()

const { brokerClients } = await import('../../dist/index.js')
const clients = brokerClients({ file })
const say = (what, done) => fs.writeSync(1, `${what} ${done}\n`)
say('invite', (await clients.invite({ name: 'new', accounts: ['ann@example.com'] })).refresh_token)
say('refresh', await clients.replaceSecret(secret, 60))
say('rotate', (await clients.rotate('victim')).refresh_token)
say('revoke', await clients.revoke('victim'))
