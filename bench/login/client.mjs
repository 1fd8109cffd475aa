/** One shape of a login, in a process of its own: does so many, so many at once, and tells what CPU time they took. */
import { shapes } from './shapes.mjs'

const [, , name] = process.argv
let login

process.on('message', (message) => void answer(message))

async function answer({ start, identities, passcode, atOnce }) {
  if (start) {
    login = await shapes[name](start)
    return process.send({})
  }
  globalThis.gc()
  const before = process.cpuUsage()
  const queue = identities.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const identity of queue) {
        const { access_token } = await login({ identity, credential: 'correct horse', passcode })
        if (!access_token) throw new Error(`${name}: no token`)
      }
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return process.send({ cpu: (user + system) / 1000 / identities.length })
}
