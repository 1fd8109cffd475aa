/** Redis over TLS: its password goes to a server that can be verified, whatever the environment says. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { startUnverifiedRedis, type UnverifiedRedis } from '../../../tests/support/unverified-redis.ts'
import { run } from './instance.ts'
import type { Program } from '../../../tests/support/program.ts'

let server: UnverifiedRedis
let folder: string
let instance: Program | undefined

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'owner-sso-redis-tls-'))
  server = await startUnverifiedRedis()
  writeFileSync(join(folder, 'ca.pem'), server.certificate)
})
afterEach(async () => {
  instance?.child.kill('SIGKILL')
  await instance?.exitCode
  await server.close()
  rmSync(folder, { recursive: true })
})

/** Starts an instance and waits until its first connection has failed. */
async function startAndFail(environment: Readonly<Record<string, string>>): Promise<string> {
  instance = run('main', {
    environment: {
      PORT: '0',
      OWNER_SSO_AUTH_URL: 'http://127.0.0.1:9',
      OWNER_SSO_API_URL: 'http://127.0.0.1:9',
      OWNER_SSO_STORE: server.url,
      ...environment,
    },
  })
  const [, code = ''] = await instance.prints(/"store-down","code":"([^"]+)"/u)
  return code
}

it('a server that can’t be verified gets no password, also where NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
  const code = await startAndFail({ NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' })
  expect({ code, received: server.received() }).toEqual({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', received: '' })
  expect(instance?.printed()).not.toContain('hush')
})

it('one whose CA was given gets it', async () => {
  await startAndFail({ NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') })
  expect(server.received()).toContain('hush')
})
