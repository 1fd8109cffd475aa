/**
 * What the tests need beyond npm. As root on a Debian-like system the missing ones are installed; elsewhere the tests
 * that need one are skipped, with a line that says so.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Each program, and the Debian packages that bring it. */
const packages = {
  'redis-server': 'redis-server',
  chromium: 'chromium',
  curl: 'curl',
  openssl: 'openssl',
  Xvfb: 'xvfb',
  postgres: 'postgresql',
  pgbouncer: 'pgbouncer',
  'dbus-daemon': 'dbus',
  'gnome-keyring-daemon': 'gnome-keyring',
  mosquitto: 'mosquitto',
  python3: 'python3',
  gccgo: 'gccgo',
  spin: 'spin',
  cc: 'gcc libc6-dev',
}
const programs = Object.keys(packages)

/** Debian keeps the programs of each version of PostgreSQL in a folder of their own, off the PATH. */
const postgresVersions = '/usr/lib/postgresql'

/** Installs what is missing where that is allowed, and returns the names of the programs that are there in the end. */
export function installMissingPrograms() {
  const missing = programs.filter((program) => !isThere(program))
  if (missing.length > 0 && mayInstall()) {
    console.log(`Installing ${missing.join(' and ')} with apt-get (OWNER_SSO_NO_INSTALL=1 forbids it) …`)
    aptGet(['update', '-qq'])
    aptGet([
      'install',
      '-y',
      '-qq',
      '--no-install-recommends',
      ...missing.flatMap((program) => packages[program].split(' ')),
    ])
  }
  for (const program of programs.filter((name) => !isThere(name))) {
    console.log(
      `${program} is missing: its tests are skipped. Install it (Debian: apt-get install ${packages[program]}) and run npm test again.`,
    )
  }
  return programs.filter(isThere)
}

function mayInstall() {
  return process.env.OWNER_SSO_NO_INSTALL !== '1' && process.getuid?.() === 0 && isThere('apt-get')
}

function aptGet(args) {
  const { status } = spawnSync('apt-get', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  if (status !== 0) console.error(`apt-get ${args[0]} failed with exit code ${status}.`)
}

function isThere(program) {
  const folders = (process.env.PATH ?? '').split(delimiter)
  if (program === 'postgres' && existsSync(postgresVersions))
    folders.push(...readdirSync(postgresVersions).map((version) => join(postgresVersions, version, 'bin')))
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
