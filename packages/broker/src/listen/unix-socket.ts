/**
 * A Unix socket that nobody can open before its permissions are set.
 */
import { once } from 'node:events'
import { chmod, mkdtemp, rename, rmdir, stat, unlink } from 'node:fs/promises'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { kinds, type OptionRows, systemCode } from '@owner-sso/core'

/** A Unix socket: who may open the file may have the token of every account. */
export interface ListenOnSocket {
  /** The path of the socket; its folder has to be there, and not open to everybody. One that a broker left behind is replaced. */
  readonly unix: string
  /** Permissions of the socket. Default 0600: this user. 0660 lets the group in. */
  readonly mode?: number | undefined
}

export const socketRows: OptionRows<ListenOnSocket> = {
  unix: kinds.path,
  mode: {
    must: 'permissions such as 0o660',
    fits: (value) => kinds.whole(0, 0o777).fits(value),
  },
}

/**
 * The socket is made in a folder of this user's alone beside its place, gets its permissions there, and is then moved.
 *
 * @returns what removes it
 * @throws Error where everybody can write to its folder, a broker listens there, the path is something else than a socket, or nothing can be made in its folder; the
 *   system's error
 */
export async function listenOnSocket(
  server: Server,
  { unix, mode = 0o600 }: ListenOnSocket,
): Promise<() => Promise<void>> {
  if (process.platform === 'win32') throw new TypeError('unix: Windows has no sockets with permissions; use a port')
  const path = resolve(unix)
  await requireClosed(dirname(path))
  await requireUnused(path)
  const folder = await folderIn(dirname(path))
  const draft = join(folder, 's')
  try {
    server.listen(draft)
    await once(server, 'listening')
    await chmod(draft, mode)
    await rename(draft, path)
  } finally {
    await rmdir(folder).catch(() => undefined)
  }
  const { ino } = await stat(path)
  return async () => {
    // By now it may be another broker's.
    const found = await stat(path).catch(() => undefined)
    if (found?.ino === ino) await unlink(path).catch(() => undefined)
  }
}

async function folderIn(place: string): Promise<string> {
  try {
    return await mkdtemp(join(place, '.s'))
  } catch (error) {
    throw new Error(`Nothing can be made in the folder ${place} (${systemCode(error) ?? 'unknown'}).`, { cause: error })
  }
}

/** Where everybody may make files, another user could put a socket in this place later, and programs would call that one. */
async function requireClosed(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (((found?.mode ?? 0) & 0o002) === 0) return
  throw new Error(`Every user can write to the folder ${folder}: choose another one for the socket.`)
}

async function requireUnused(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return
  if (!found.isSocket()) throw new Error(`${path} is no socket: remove it, or choose another path.`)
  if (await isAnswered(path)) throw new Error(`Another process listens on ${path}.`)
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((answered) => {
    const socket = connect(path)
    const end = (isOpen: boolean): void => {
      socket.destroy()
      answered(isOpen)
    }
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })
}
