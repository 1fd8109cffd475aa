/**
 * What every row of the matrix needs: the packed packages, an empty project outside the repository with some of them
 * installed, and programs run there.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack } from '../../tools/build/pack.mjs'

/** The longest that one program of a row may run, in milliseconds. */
const longest = 180_000

const pnpm = fileURLToPath(new URL('../../tools/launcher/pnpm.mjs', import.meta.url))

/**
 * Packs everything. `remove()` removes all that the matrix has written.
 *
 * `quick`: the Node at hand stands in for every other, and pnpm, which lays packages out in the same way, for npm: an install
 * takes a quarter of the processor time.
 */
export function openWorkshop({ quick = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-matrix-'))
  const tarballs = pack(folder)
  const nodes = new Map()
  let projects = 0

  /** An empty project with these packages: ours by their bare names, others as npm takes them. */
  async function project(...packages) {
    projects += 1
    const here = join(folder, `project-${projects}`)
    write(here, 'package.json', '{ "private": true, "type": "module" }')
    if (packages.length > 0) await install(here, packages)
    return here
  }

  /** Tarballs in place of our own names, with those that they depend on: no registry has them. */
  function specifiers(packages) {
    const all = new Set(packages)
    for (const name of all) {
      const needed = name in tarballs ? Object.keys(manifestOf(name).dependencies ?? {}) : []
      for (const each of needed) if (each in tarballs) all.add(each)
    }
    return [...all].map((name) => tarballs[name] ?? name)
  }

  function npmInstall(here, packages) {
    const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
    return run('npm', ['install', ...flags, ...specifiers(packages)], { cwd: here })
  }

  function pnpmInstall(here, packages) {
    const overrides = Object.fromEntries(Object.entries(tarballs).map(([name, file]) => [name, `file:${file}`]))
    write(here, 'pnpm-workspace.yaml', JSON.stringify({ nodeLinker: 'hoisted', ignoreScripts: true, overrides }))
    const flags = ['--dir', here, '--prefer-offline', '--loglevel=error']
    return run(process.execPath, [pnpm, 'add', ...flags, ...specifiers(packages)], { cwd: here })
  }

  const install = quick ? pnpmInstall : npmInstall

  /** The executable of a Node: npm's package `node` brings it. */
  async function node(version) {
    if (quick) return process.execPath
    if (!nodes.has(version)) {
      const here = join(folder, `node-${version}`)
      write(here, 'package.json', '{ "private": true }')
      nodes.set(
        version,
        npmInstall(here, [`node@${version}`]).then(() => join(here, 'node_modules/node/bin/node')),
      )
    }
    return nodes.get(version)
  }

  const remove = () => rmSync(folder, { recursive: true, force: true })
  return { folder, tarballs, project, node, remove }
}

function manifestOf(name) {
  const file = new URL(`../../packages/${name.split('/')[1]}/package.json`, import.meta.url)
  return JSON.parse(readFileSync(fileURLToPath(file), 'utf8'))
}

/** Writes a file of a project. */
export function write(here, name, text) {
  mkdirSync(dirname(join(here, name)), { recursive: true })
  writeFileSync(join(here, name), text)
}

/**
 * Starts a program; `printed()` is all that it has printed so far, and `ended` settles with its exit code.
 *
 * Its environment has PATH, HOME, npm's and the proxy's settings, and `env`: nothing of the matrix's own.
 */
export function start(command, args, { cwd, env = {} }) {
  const child = spawn(command, args, { cwd, env: { ...ambient(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  const timer = setTimeout(() => child.kill('SIGKILL'), longest)
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  }).finally(() => clearTimeout(timer))
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { printed: () => text, ended, isRunning: () => child.exitCode === null && child.signalCode === null, stop }
}

/** Runs a program to its end, and answers with what it printed. Throws where it fails. */
export async function run(command, args, options) {
  const program = start(command, args, options)
  const code = await program.ended
  if (code !== 0)
    throw new Error(`${[command, ...args].join(' ')} ended with ${code}:\n${program.printed().slice(-4000)}`)
  return program.printed()
}

function ambient() {
  const kept = /^(?:PATH|HOME|LANG|p?npm_config_.*|.*_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_.*|DENO_TLS_CA_STORE)$/iu
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name)))
}

/** A port that was free a moment ago. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
