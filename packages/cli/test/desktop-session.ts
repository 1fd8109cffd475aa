/**
 * The session of a desktop with a keyring: a bus and a Secret Service of its own, with folders of their own. Nothing of it
 * knows the keyring of whoever runs the tests.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from '@jest/globals'
import { until } from './machine.ts'

const programs = ['dbus-daemon', 'gnome-keyring-daemon']
const isHere = programs.every((program) => spawnSync(program, ['--version'], { timeout: 5000 }).status === 0)
if (!isHere) console.warn(`Skipped: the tests of the keyring need ${programs.join(' and ')}.`)

/** `describe` where there is a Secret Service to run; skipped elsewhere, and a failure on CI. */
export const describeWithKeyring: typeof describe | typeof describe.skip =
  isHere || process.env['CI'] === 'true' ? describe : describe.skip

export interface DesktopSession extends AsyncDisposable {
  /** What the session tells its programs. */
  readonly env: NodeJS.ProcessEnv
  /** The keyring is there, and asks for a password that nobody types. */
  readonly lock: () => Promise<void>
  readonly unlock: () => Promise<void>
  /** Another keyring, with nothing in it. */
  readonly lose: () => Promise<void>
}

export async function startDesktopSession(): Promise<DesktopSession> {
  const home = mkdtempSync(join(tmpdir(), 'owner-sso-desktop-'))
  const bus = join(home, 'bus')
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    XDG_RUNTIME_DIR: join(home, 'run'),
    XDG_DATA_HOME: join(home, 'data'),
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}`,
  }
  mkdirSync(env.XDG_RUNTIME_DIR, { mode: 0o700 })
  const configuration = join(home, 'bus.conf')
  writeFileSync(
    configuration,
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
     <busconfig><type>session</type><listen>unix:path=${bus}</listen><auth>EXTERNAL</auth>
     <policy context="default">
       <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`,
  )
  const daemon = spawn('dbus-daemon', ['--nofork', `--config-file=${configuration}`], { env, stdio: 'ignore' })
  const remove = async (): Promise<void> => {
    await end(daemon)
    rmSync(home, { recursive: true, force: true })
  }
  let keyring = await until(() => existsSync(bus))
    .then(() => startKeyring(env, true))
    .catch(async (error: unknown) => {
      await remove()
      throw error
    })
  const restart = async (unlocked: boolean): Promise<void> => {
    await end(keyring)
    keyring = await startKeyring(env, unlocked)
  }
  return {
    env,
    lock: () => restart(false),
    unlock: () => restart(true),
    async lose() {
      rmSync(env.XDG_DATA_HOME, { recursive: true })
      await restart(true)
    },
    async [Symbol.asyncDispose]() {
      await end(keyring)
      await remove()
    },
  }
}

/** With `unlocked`, its password comes as it does from the one who signs in to a desktop: on standard input. */
async function startKeyring(env: NodeJS.ProcessEnv, unlocked: boolean): Promise<ChildProcess> {
  const options = ['--foreground', '--components=secrets', ...(unlocked ? ['--unlock'] : [])]
  const child = spawn('gnome-keyring-daemon', options, { env, stdio: ['pipe', 'ignore', 'ignore'] })
  child.stdin?.end('desktop password')
  const search = ['--session', '--print-reply', '--dest=org.freedesktop.DBus', '/', 'org.freedesktop.DBus.GetNameOwner']
  const isThere = (): boolean =>
    spawnSync('dbus-send', [...search, 'string:org.freedesktop.secrets'], { env, timeout: 5000 }).status === 0
  await until(isThere).catch(async (error: unknown) => {
    await end(child)
    throw error
  })
  return child
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
