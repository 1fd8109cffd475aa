/**
 * `owner-sso broker run -- PROGRAM`: a program that knows only the service's own address is brought to the broker.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { basename } from 'node:path'
import { isatty } from 'node:tty'
import { type AuditEntry, brokerClients, tokenBroker } from '@owner-sso/broker'
import { type Sso, withoutBrackets } from '@owner-sso/core'
import { messageOf, systemError, usageError } from '../failure/command-error.ts'
import { stopped } from '../failure/interruption.ts'
import type { BrokerCall } from './broker-options.ts'
import { dashed } from '../options/option.ts'
import { serviceOf } from '../settings/configured-service.ts'
import type { Settings } from '../settings/settings.ts'
import { printNote } from '../terminal/output.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { auditLog } from './audit-log.ts'
import { interceptingProxy } from './intercepting-proxy.ts'
import { programEnvironment, refuseOtherProxies } from './program-environment.ts'
import { runCertificate } from './run-certificate.ts'

/** @returns the program's exit code; for one that a signal ended, 128 and the signal's number */
export async function run({ settings, options, args: [, program, ...args] }: BrokerCall): Promise<number> {
  if (!program) throw usageError('Which program?', 'Name it: owner-sso broker run -- PROGRAM')
  // It listens on loopback alone, for one program.
  const other = Object.keys(options).find((name) => name !== 'audit')
  if (other !== undefined) throw usageError(`owner-sso broker run takes no ${dashed(other)}.`, 'It takes only --audit.')
  refuseOtherProxies()
  const sso = serviceOf(settings)
  const hosts = hostsOf(settings, sso)
  const names = [...hosts].map((host) => withoutBrackets(new URL(`https://${host}`).hostname))
  const certificate = await runCertificate([...new Set(names)])
  return withTokens(settings, sso, async ({ tokens, store: { store } }) => {
    const clients = brokerClients({ store })
    const audit = auditLog(options.audit)
    const teller = tellerOf(basename(program), hosts)
    const broker = tokenBroker({
      tokens,
      clients,
      // An address in brackets is let in by itself. Others may be written with the dot of the root at their end.
      hosts: names.filter((name) => !name.includes(':')).flatMap((name) => [name, `${name}.`]),
      audit(entry) {
        audit?.note(entry)
        teller.noteAudit(entry)
      },
      onProblem: (error, { code }) => teller.tell(`${code}: ${messageOf(error)}`),
    })
    try {
      const proxy = await interceptingProxy({ hosts, certificate, answerRefresh: broker.handler, ...teller })
      let code: number
      try {
        code = await ended(program, args, proxy.url, certificate.authority)
      } finally {
        await proxy.close()
      }
      teller.end()
      return code
    } finally {
      await broker.close()
      await audit?.close()
    }
  })
}

async function ended(program: string, args: readonly string[], proxyUrl: string, authority: string): Promise<number> {
  let child: ChildProcess | undefined
  // Before the program's files are made, so that a signal leaves none behind.
  onSignals((signal) => child?.kill(signal))
  const { env, remove } = programEnvironment(proxyUrl, authority)
  try {
    stopped.throwIfAborted()
    child = await started(program, args, env)
    // This user may not be allowed to send it signals, as to sudo.
    child.on('error', () => undefined)
    const [code, signal]: [number | null, NodeJS.Signals | null] = await new Promise((resolve) =>
      child?.once('exit', (...exit) => resolve(exit)),
    )
    return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
  } finally {
    remove()
  }
}

async function started(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  try {
    // Throws by itself for some that can’t be run, such as a file below a file.
    const child = spawn(program, args, { stdio: 'inherit', env })
    await once(child, 'spawn')
    return child
  } catch (error) {
    throw systemError(`${program} can’t be run`, error, 'Give its path, or a name that is in PATH.')
  }
}

/**
 * All that would end this process alone, and leave the program without its proxy; and those that programs give a meaning of
 * their own. Nobody can listen to SIGKILL; signals of a crash are meant for one process.
 */
const passedOn = [
  ...(['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGWINCH'] as const),
  ...(['SIGABRT', 'SIGIO', 'SIGPROF', 'SIGPWR', 'SIGSTKFLT', 'SIGVTALRM', 'SIGXCPU'] as const),
]

/** These a terminal sends to the program as well. */
const ofTerminals = new Set<NodeJS.Signals>(['SIGINT', 'SIGQUIT', 'SIGWINCH'])

function onSignals(pass: (signal: NodeJS.Signals) => unknown): void {
  // `process.stdin` would make the program's own input such that a read of it fails where nothing is there yet.
  const isInTerminal = [0, 1, 2].some(isatty)
  for (const signal of passedOn) {
    process.on(signal, () => {
      if (!isInTerminal || !ofTerminals.has(signal)) pass(signal)
    })
  }
}

/** Those of the service's instances and their token endpoints, as a URL has them. @throws CommandError */
function hostsOf({ authUrl, regionalAuthUrls }: Settings, sso: Sso): ReadonlySet<string> {
  const instances = [authUrl?.value ?? '', ...regionalAuthUrls.value]
  const addresses = [...instances, ...instances.map((url) => sso.tokenUrlOf(url))].map((url) => new URL(url))
  const bare = addresses.find(({ protocol }) => protocol !== 'https:')
  if (bare === undefined) return new Set(addresses.map(({ host }) => host))
  const next = 'Its programs would need no certificate: point them at owner-sso broker. The emulator has --tls.'
  throw usageError(`${bare.origin} is no https address.`, next)
}

/** Says in sentences, each once, what keeps the program from its token. Of what it asked for, nothing is said but the host. */
function tellerOf(program: string, hosts: ReadonlySet<string>) {
  const told = new Set<string>()
  const others = new Set<string>()
  let hasCome = false
  const tell = (sentence: string): void => {
    if (!told.has(sentence)) printNote(`owner-sso: ${sentence}`)
    told.add(sentence)
  }
  return {
    tell,
    saw(problem?: string) {
      hasCome = true
      if (problem !== undefined) tell(`${program} ${problem}`)
    },
    sawTunnel: (host: string) => void (others.size < 5 && host.length < 256 && others.add(host)),
    noteAudit({ event, code }: AuditEntry) {
      if (event === 'rejected' && code === 'invalid_grant')
        tell(`${program} has no refresh token of this broker: give it what owner-sso broker invite NAME prints.`)
    },
    /** Of a program that has ended. */
    end() {
      const asked = others.size === 0 ? '' : `${[...hosts].join(', ')}, but ${[...others].join(', ')}`
      if (hasCome) return
      if (asked !== '')
        return tell(
          `${program} never asked ${asked}. If one of these is an instance of the service, allow it with --regional-auth-url.`,
        )
      tell(
        `${program} never asked through the proxy: it needed nothing, or it ignores HTTPS_PROXY. ` +
          'Node’s fetch heeds it from 22.21 and 24 on.',
      )
    },
  }
}
