/**
 * What the tests need beyond npm. As root on a Debian-like system the missing ones are installed; elsewhere the tests
 * that need one are skipped, with a line that says so.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const programs = ['redis-server', 'chromium', 'curl', 'openssl', 'zsh', 'fish']

/** Installs what is missing where that is allowed, and returns the names of the programs that are there in the end. */
export function installMissingPrograms() {
  const missing = programs.filter((program) => !isOnPath(program))
  if (missing.length > 0 && mayInstall()) {
    console.log(`Installing ${missing.join(' and ')} with apt-get (OWNER_SSO_NO_INSTALL=1 forbids it) …`)
    aptGet(['update', '-qq'])
    aptGet(['install', '-y', '-qq', '--no-install-recommends', ...missing])
  }
  for (const program of programs.filter((name) => !isOnPath(name))) {
    console.log(
      `${program} is missing: its tests are skipped. Install it (Debian: apt-get install ${program}) and run npm test again.`,
    )
  }
  return programs.filter(isOnPath)
}

function mayInstall() {
  return process.env.OWNER_SSO_NO_INSTALL !== '1' && process.getuid?.() === 0 && isOnPath('apt-get')
}

function aptGet(args) {
  const { status } = spawnSync('apt-get', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  if (status !== 0) console.error(`apt-get ${args[0]} failed with exit code ${status}.`)
}

function isOnPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
