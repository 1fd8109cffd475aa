/**
 * The command: asks the broker, and prints what it does and lacks.
 */
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { type Address, Misused, parseAddress } from './address.ts'
import { type Broker, brokerAt, type Keys } from './broker.ts'
import { Unanswered } from './call.ts'
import { type Check, Lacking, shown, Unseen, wordOf } from './finding.ts'
import { optional } from './optional.ts'
import { type Finding, reportOf } from './report.ts'
import { oneToken, required } from './required.ts'

const help = `Usage: node tests/broker-conformance/dist/main.js <address> [options]

Checks a token broker against the broker protocol, and prints what it lacks.

  <address>   http://127.0.0.1:8700, https://broker.example.com or unix:/path/of.sock
  --help

The key of a program that may have one account's token comes in OWNER_SSO_BROKER_KEY, or on standard input: never as an
argument, which every user of the machine can read. A second key, of a program that was revoked, may come in
OWNER_SSO_BROKER_REVOKED_KEY, or in a second line. The account has to be signed in.

It makes about forty calls, asks for no new sign-in, and prints no secret. Ends with 0 if the required part passes, 1 if it
doesn't, 2 if it can't begin.

Example:
  node tests/broker-conformance/dist/main.js http://127.0.0.1:8700 < keys
`

/** What a process has. */
export interface CommandProcess {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly print: (text: string) => void
  /** For people, beside what is printed. */
  readonly complain: (text: string) => void
}

/** It can't begin. The message says why, and what to do. */
class CannotBegin extends Error {}

/** @returns the exit code */
export async function run(args: readonly string[], { env, stdin, print, complain }: CommandProcess): Promise<number> {
  try {
    const { values, positionals } = parsed(args)
    if (values.help) {
      print(help)
      return 0
    }
    const [given, ...others] = positionals
    if (given === undefined || others.length > 0) throw new Misused('One address is needed, and no other argument.')
    const address = parseAddress(given)
    const broker = brokerAt(address, await keysOf(env, stdin))
    await requireToken(broker, address)
    const findings = await findingsOf(broker)
    print(`${address.shown}\n\n${reportOf(findings)}`)
    return findings.some(({ check, state }) => check.isRequired && state === 'lacks') ? 1 : 0
  } catch (error) {
    if (!(error instanceof Misused || error instanceof CannotBegin)) throw error
    complain(`${error.message}\n`)
    if (error instanceof Misused) complain('node tests/broker-conformance/dist/main.js --help says what it takes.\n')
    return 2
  }
}

/** @throws Misused */
function parsed(args: readonly string[]) {
  try {
    const options = { help: { type: 'boolean' } } as const
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    // The rest of it is about arguments that begin with a dash. Values are not part of it.
    const [sentence = ''] = String(Object(error).message).split('. ')
    throw new Misused(`${sentence}.`, { cause: error })
  }
}

/** @throws CannotBegin */
async function keysOf(env: CommandProcess['env'], stdin: CommandProcess['stdin']): Promise<Keys> {
  const given = env['OWNER_SSO_BROKER_KEY']
  const lines = given === undefined && stdin.isTTY !== true ? (await text(stdin)).split('\n') : []
  const keys = given === undefined ? lines : [given, env['OWNER_SSO_BROKER_REVOKED_KEY']]
  const [key, revokedKey] = keys.map((each) => each?.trim())
  if (!key) throw new CannotBegin('There is no key. Set OWNER_SSO_BROKER_KEY, or give it on standard input: < key')
  for (const one of [key, revokedKey || key]) {
    if (!/^[\w.~+/-]+=*$/u.test(one)) throw new CannotBegin('A key is one word of letters, digits and . _ ~ + / - =')
  }
  if (key === revokedKey) throw new CannotBegin('The two keys are the same: the second is one that was revoked.')
  return { key, revokedKey: revokedKey || undefined }
}

/** @throws CannotBegin where neither way leads to a token */
async function requireToken(broker: Broker, { shown: where }: Address): Promise<void> {
  const answers = [broker.refresh(broker.key), broker.token()] as const
  const [refresh, token] = await Promise.all(answers).catch((error: unknown) => {
    if (!(error instanceof Unanswered)) throw error
    const hint = where.startsWith('https:') ? ' Node trusts a certificate of your own by NODE_EXTRA_CA_CERTS=FILE.' : ''
    throw new CannotBegin(`${where}: ${error.message}. Is the broker running there?${hint}`)
  })
  if (refresh.status === 200 || token.status === 200) return
  const [error, code] = [wordOf(refresh), wordOf(token)]
  if (code === 'ERR_BROKER_NO_ACCOUNT') {
    throw new CannotBegin('The key is for several accounts. Use that of a program with one.')
  }
  if (error === 'login_required') throw new CannotBegin('The key’s account has to sign in at the broker first.')
  if (error === 'invalid_grant' || token.status === 401) {
    throw new CannotBegin('The broker rejects the key. Let a program in for this check, and give its key.')
  }
  throw new CannotBegin(`The broker gives no token: ${shown(refresh)} to a refresh, ${shown(token)} to GET /token.`)
}

async function findingsOf(broker: Broker): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const check of [...required, ...optional]) {
    const mayAsk = findings.every((finding) => finding.check !== oneToken || finding.state === 'ok')
    findings.push(mayAsk ? await findingOf(check, broker) : { check, state: 'not checked', reason: tooManyRefreshes })
  }
  return findings
}

const tooManyRefreshes = 'each call would be a refresh at the service'

async function findingOf(check: Check, broker: Broker): Promise<Finding> {
  try {
    await check.look(broker)
    return { check, state: 'ok' }
  } catch (error) {
    if (error instanceof Unseen) return { check, state: 'not checked', reason: error.message }
    if (error instanceof Lacking || error instanceof Unanswered) {
      return { check, state: 'lacks', reason: error.message }
    }
    throw error
  }
}
