/**
 * How fast the command line starts, beside a bare `node -e 0`: `node bench/cli-start.mjs [ROUNDS]`, after `npm run build`.
 *
 * All candidates in turns; what is measured is the CPU time of a whole process (user and system), from its start to its
 * end, since wall-clock time on a shared machine tells of its other users. Ratios count, times do not. `login` is a whole
 * sign-in, with three requests to an emulator in a process of its own. Needs bash, for its `time`.
 *
 * The environment is taken as it is found. A NODE_EXTRA_CA_CERTS in it makes every start of Node slower by tens of
 * milliseconds, a bare one too, and so every ratio smaller: compare the extra milliseconds as well.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const rounds = Number(process.argv[2] ?? 25)
const command = fileURLToPath(new URL('../packages/cli/dist/main.cjs', import.meta.url))
const account = ['--account', 'plain@example.com']

const candidates = {
  'bare node': { args: ['-e', '0'] },
  '--help': { args: [command, '--help'], budget: 2 },
  'token, cached': { args: [command, 'token', ...account], budget: 1.4 },
  login: { args: [command, 'login', ...account], budget: 3 },
}

const home = mkdtempSync(join(tmpdir(), 'owner-sso-bench-'))
const emulator = spawn(process.execPath, [command, 'emulator', '--no-firewall'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [greeting] = await once(emulator.stdout, 'data')
const env = {
  ...process.env,
  HOME: home,
  OWNER_SSO_AUTH_URL: /SSO service +(\S+)/u.exec(greeting)[1],
  OWNER_SSO_CREDENTIAL: 'correct horse',
}

try {
  await run(candidates.login.args)
  const times = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, { args }] of Object.entries(candidates)) times[name].push(await run(args))
  }
  const floor = Math.min(...times['bare node'])
  console.table(Object.fromEntries(Object.entries(candidates).map(([name, candidate]) => [name, row(name, candidate)])))

  function row(name, { budget = '' }) {
    const least = Math.min(...times[name])
    return { 'CPU ms': least, extra: least - floor, ratio: Number((least / floor).toFixed(2)), budget }
  }
} finally {
  emulator.kill()
  rmSync(home, { recursive: true })
}

/** Milliseconds of CPU time of one process. */
async function run(args) {
  const timed = 'TIMEFORMAT="CPU %U %S"; time "$@" > /dev/null'
  const child = spawn('bash', ['-c', timed, 'bash', process.execPath, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${said}`)
  const [, user, system] = /CPU (\S+) (\S+)/u.exec(said)
  return Math.round((Number(user) + Number(system)) * 1000)
}
