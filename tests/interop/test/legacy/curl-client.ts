/** `curl-client.sh` as a client of the table. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { PeerClient } from './peer-client.ts'

export const curlClient: PeerClient = async ({ authUrl, ownerApiUrl }, { identity, credential, passcode }) => {
  const folder = await mkdtemp(join(tmpdir(), 'owner-sso-curl-'))
  const child = spawn('bash', [join(import.meta.dirname, 'curl-client.sh')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      TMPDIR: folder,
      AUTH_URL: authUrl,
      OWNER_API_URL: ownerApiUrl,
      IDENTITY: identity,
      CREDENTIAL: credential,
      PASSCODE: passcode,
    },
  })
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  await rm(folder, { recursive: true })
  if (status !== 0) throw new Error(`curl-client.sh ended with ${status}`)
  // Each call tells its token, and the vehicles.
  const lines = output.trim().split('\n')
  const [token = '', fresh = ''] = [lines.at(0), lines.at(lines.length / 2)]
  return { token, fresh, vehicles: lines.filter((line) => line !== token && line !== fresh) }
}
