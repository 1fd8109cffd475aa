/**
 * The system's keyring: Secret Service on Linux, Keychain on macOS, Credential Manager on Windows.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { desktopOf } from '../machine/desktop.ts'
import { interruptedExitCode, stopped } from '../failure/interruption.ts'

export interface KeyringQuestion {
  readonly entry: string
  /** To be stored first, base64. */
  readonly key?: string
}

/** What stands in the entry in the end, if anything; or why that can't be told. */
export type KeyringAnswer = { readonly key?: string | undefined } | { readonly error: string }

/** Milliseconds that the keyring may take: time to type a password into its window, but not for ever. */
const timeLimit = 10_000

/** What is wrong, and what the person can do about it. */
const problems = {
  none: [
    'there is no keyring here',
    'Run this in a desktop session. Where there is none, use a folder without a keyring: owner-sso login --no-keyring --store file:PATH',
  ],
  locked: [
    'the keyring is locked',
    'Unlock it (sign in to the desktop, or open its password manager), then run this again.',
  ],
  late: [
    'the keyring did not answer within ten seconds',
    'It may be waiting for its password. Unlock it (sign in to the desktop, or open its password manager), then run this again.',
  ],
  failed: [
    'the keyring reports a failure',
    'Look at the keyring with the desktop’s password manager, then run this again.',
  ],
} as const

export class KeyringError extends Error {
  readonly next: string

  constructor(problem: keyof typeof problems) {
    const [message, next] = problems[problem]
    super(message)
    this.name = 'KeyringError'
    this.next = next
  }
}

export const keyringName: string =
  { darwin: 'Keychain', win32: 'Credential Manager' }[process.platform as string] ?? 'Secret Service'

/**
 * The key in an entry.
 *
 * @returns undefined where the keyring has no such entry
 * @throws KeyringError
 */
export async function readKey(entry: string): Promise<Uint8Array | undefined> {
  const key = await ask({ entry })
  return key === undefined ? undefined : Buffer.from(key, 'base64')
}

/** Stores a key in an entry, and sees that it is there. @throws KeyringError */
export async function storeKey(entry: string, key: Uint8Array): Promise<void> {
  const text = Buffer.from(key).toString('base64')
  if ((await ask({ entry, key: text })) !== text) throw new KeyringError('failed')
}

async function ask(question: KeyringQuestion): Promise<string | undefined> {
  if (!mayHaveKeyring(process.env)) throw new KeyringError('none')
  const answer = await answerOf(question)
  if ('error' in answer) throw new KeyringError(problemOf(answer.error))
  return answer.key
}

/** Without the address of a session bus there is no Secret Service, and nothing is to be started to look for one. */
export function mayHaveKeyring({ DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR }: NodeJS.ProcessEnv): boolean {
  if (process.platform === 'darwin' || process.platform === 'win32') return true
  if ((DBUS_SESSION_BUS_ADDRESS ?? '') !== '') return true
  return XDG_RUNTIME_DIR !== undefined && existsSync(join(XDG_RUNTIME_DIR, 'bus'))
}

async function answerOf(question: KeyringQuestion): Promise<KeyringAnswer> {
  // Loaded for a folder that has a key in the keyring: with it come the sockets of node:net.
  const { execFile } = await import('node:child_process')
  const program = fileURLToPath(new URL('keyring-process.cjs', import.meta.url))
  const options = {
    timeout: timeLimit,
    killSignal: 'SIGKILL',
    signal: stopped,
    env: desktopOf(process.env),
    windowsHide: true,
  } as const
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [program], options, (error, stdout) => {
      if (interruptedExitCode() !== undefined) reject(new Error('Stopped'))
      else if (error?.killed === true) reject(new KeyringError('late'))
      else if (error !== null) reject(new KeyringError('failed'))
      else resolve(JSON.parse(stdout))
    })
    // It may have ended before it read anything: its exit code tells.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(JSON.stringify(question))
  })
}

/** The library has no codes for what went wrong, but words. */
function problemOf(message: string): keyof typeof problems {
  if (/locked|dismissed/iu.test(message)) return 'locked'
  return /D-?Bus|Cannot find (?:module|native binding)|not supported/iu.test(message) ? 'none' : 'failed'
}
