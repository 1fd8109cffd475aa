/** A PostgreSQL on a free port of loopback, for a bench; `undefined` where there is none. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** Where Debian keeps the programs of each version. */
const versions = '/usr/lib/postgresql'

/**
 * @param folder - what it may write into; all of its writes reach the disk, as they do in an installation
 * @param connections - at once, at the most
 */
export async function startPostgres(folder, connections = 100) {
  const [version] = existsSync(versions) ? readdirSync(versions).toSorted((a, b) => b - a) : []
  if (version === undefined) return undefined
  const programs = join(versions, version, 'bin')
  const data = join(folder, 'postgres')
  const user = unprivileged()
  mkdirSync(data, { mode: 0o700 })
  if (user.uid !== undefined) {
    for (const path of [folder, data]) chownSync(path, user.uid, user.gid)
  }
  const flags = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']
  execFileSync(join(programs, 'initdb'), flags, { ...user, stdio: 'ignore' })
  const port = await freePort()
  const options = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`]
  const settings = [...options, `max_connections=${connections}`].flatMap((each) => ['-c', each])
  const server = spawn(join(programs, 'postgres'), ['-D', data, ...settings], {
    ...user,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise((resolve, reject) => {
    server.once('exit', () => reject(new Error('postgres ended')))
    server.stderr.on('data', (chunk) => String(chunk).includes('ready to accept') && resolve())
  })
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      const gone = once(server, 'exit')
      server.kill('SIGINT')
      await gone
    },
  }
}

/** It refuses root. */
function unprivileged() {
  if (process.getuid() !== 0) return {}
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/mu.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  return port
}
