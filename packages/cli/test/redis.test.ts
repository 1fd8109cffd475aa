import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Machine, newMachine, until } from './machine.ts'

const binary = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0)
const isNeeded = process.env['CI'] === 'true'
if (binary === undefined && !isNeeded) {
  console.warn('Skipped: these tests need redis-server on the PATH (Debian: apt-get install redis-server).')
}
const describeWithRedis = binary !== undefined || isNeeded ? describe : describe.skip

describeWithRedis('a store in Redis', () => {
  const emulator = useEmulator()
  let machine: Machine
  let redis: ChildProcess
  let folder: string
  let url: string

  beforeAll(async () => {
    machine = newMachine(emulator)
    folder = mkdtempSync(join(tmpdir(), 'owner-sso-redis-'))
    const port = await freePort()
    url = `redis://:hush@127.0.0.1:${port}/3`
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder, '--requirepass', 'hush']
    redis = spawn(binary ?? 'redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] })
    let said = ''
    redis.stdout?.on('data', (chunk) => (said += chunk))
    await until(() => said.includes('Ready to accept connections'))
  })
  afterAll(async () => {
    redis.kill('SIGKILL')
    await once(redis, 'exit')
    rmSync(folder, { recursive: true })
    machine.remove()
  })

  it('holds what a login stored, for every command, and never shows its password', async () => {
    const env = { OWNER_SSO_STORE: url }
    const said = [await machine.signIn('plain@example.com', { env })]
    for (const args of [['token'], ['status'], ['doctor'], ['status', '--json'], ['stores']]) {
      said.push(await machine.run(args, { env }))
    }
    expect(said.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0])
    expect(said[2]?.stdout).toContain(`Store: redis://127.0.0.1:${new URL(url).port}/3`)
    expect(said[3]?.stdout).toContain('append-only file is off')
    expect(said.map(({ stdout, stderr }) => stdout + stderr).join('')).not.toContain('hush')
  })

  it('tells a wrong password from a server that is down', async () => {
    const env = { OWNER_SSO_STORE: url.replace('hush', 'wrong') }
    const { code, stderr } = await machine.run(['token'], { env })
    expect(code).toBe(6)
    expect(stderr).toContain('does not accept this user name and password')
    expect(stderr).not.toContain('wrong@')
  })

  it('takes the accounts of a folder', async () => {
    await machine.signIn('regional@example.com')
    const config = { OWNER_SSO_STORE: url }
    const refused = await machine.run(['copy', `file:${machine.tokensFolder}`, url])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('OWNER_SSO_STORE')
    const copied = await machine.run(['copy', `file:${machine.tokensFolder}`, '-', '--json'], { env: config })
    expect(JSON.parse(copied.stdout)).toMatchObject({ copied: 1, to: `redis://127.0.0.1:${new URL(url).port}/3` })
    expect((await machine.run(['token', '--account', 'regional@example.com'], { env: config })).code).toBe(0)
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
