/** A legacy client from npm, unchanged, in a process of its own whose HTTPS requests arrive on loopback. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Emulator } from '@owner-sso/emulator'
import type { PeerClient } from './peer-client.ts'

const require = createRequire(import.meta.url)
const legacyClient = require.resolve('teslajs')

export interface NpmEnding {
  readonly token?: string
  readonly fresh?: string
  /** Before the refresh, and once more after it. */
  readonly vehicles?: readonly string[]
  readonly error?: string
}

/** `credentials` are the client's own: `username`, `password`, `mfaPassCode`, `mfaDeviceName`. */
export async function runNpmClient(
  { authUrl, ownerApiUrl, ca }: Emulator,
  credentials: Readonly<Record<string, string>>,
): Promise<NpmEnding> {
  const preload = join(import.meta.dirname, 'loopback.cjs')
  const script = join(import.meta.dirname, 'npm-client.cjs')
  const child = spawn(process.execPath, ['--no-deprecation', '--require', preload, script, legacyClient], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { LOOPBACK_SERVICE: authUrl, LOOPBACK_OWNER_API: ownerApiUrl, LOOPBACK_CA: ca ?? '' },
  })
  child.stdin.end(JSON.stringify(credentials))
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return JSON.parse(output)
}

export const npmClient: PeerClient = async (emulator, { identity, credential, passcode }) => {
  const credentials = { username: identity, password: credential, mfaPassCode: passcode }
  const { token = '', fresh = '', vehicles = [], error } = await runNpmClient(emulator, credentials)
  if (error !== undefined) throw new Error(error)
  return { token, fresh, vehicles }
}
