/**
 * Where a worker dies by itself, because nobody outside sees the moment: a file in the folder of traps arms one, and the process that
 * takes the file away dies. So of eight that come by at once one dies.
 *
 * `before-request`: whoever opens a connection to the token endpoint, before it is opened. `before-store-PID`: that process, when the answer
 * of the token endpoint is there.
 */
import { subscribe } from 'node:diagnostics_channel'
import { unlinkSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'

/** @param tokenPorts - of the token endpoint */
export function setTraps(folder, tokenPorts) {
  const spring = (name) => {
    try {
      unlinkSync(join(folder, name))
    } catch {
      return
    }
    process.kill(process.pid, 'SIGKILL')
  }

  const before = Object.getOwnPropertyDescriptor(Socket.prototype, 'connect').value
  Socket.prototype.connect = function (...args) {
    const [options] = Array.isArray(args[0]) ? args[0] : args
    if (!tokenPorts.includes(Number(options?.port))) return before.apply(this, args)
    spring('before-request')
    // Whose request it is that arrives at the service. In the name, since a full disk takes names.
    this.once('connect', () => writeFileSync(join(folder, `${this.localPort}-${process.pid}`), ''))
    return before.apply(this, args)
  }

  // By `node:http` and by `fetch`.
  const answered = (host) =>
    tokenPorts.some((port) => String(host).endsWith(`:${port}`)) && spring(`before-store-${process.pid}`)
  subscribe('http.client.response.finish', ({ request }) => answered(request.getHeader('host')))
  subscribe('undici:request:headers', ({ request }) => answered(request.origin))
}
