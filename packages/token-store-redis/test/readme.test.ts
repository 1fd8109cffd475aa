import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { redisTokenStore } from '../src/index.ts'
import { describeWithRedis, startRedis } from '../../../tests/support/redis-server.ts'
import { ioRedis, nodeRedis } from './redis-clients.ts'
import { account, sample } from '../../../tests/support/store-samples.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

describeWithRedis('the README', () => {
  test('has a quick start that runs as it stands', async () => {
    const server = await startRedis()
    const [, code = ''] = /<!-- runs -->\s+```js\n([\s\S]*?)```/u.exec(readme) ?? []
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { PATH: process.env['PATH'], OWNER_SSO_AUTH_URL: 'http://127.0.0.1:1', REDIS_URL: server.url },
    })
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)))
    await once(child, 'close')
    expect(printed).toContain("state: 'signed-out'")
    expect(printed).toContain('append-only file is off')
    await server.stop()
  })

  test('names the permissions that are enough, for both clients', async () => {
    const [, rules = ''] = /^ +user tokens on >… (.*)$/mu.exec(readme) ?? []
    const server = await startRedis()
    await server.command('ACL', 'SETUSER', 'tokens', 'on', '>sekret', 'resetchannels', ...rules.split(' '))
    const url = server.url.replace('//', '//tokens:sekret@')
    const [node, nodeSubscriber, io, ioSubscriber] = [
      await nodeRedis(url),
      await nodeRedis(url),
      ioRedis(url),
      ioRedis(url),
    ]
    for (const options of [
      { client: node, subscriber: nodeSubscriber, prefix: 'owner-sso:n:' },
      { client: io, subscriber: ioSubscriber, prefix: 'owner-sso:i:' },
    ]) {
      const store = redisTokenStore(options)
      const changed = new Promise<void>((resolve) => store.watch?.(account, resolve))
      for (let version = 0, told = false; !told; version += 1) {
        await store.swap(account, version, sample(version + 1), `write ${version}`)
        told = await Promise.race([
          changed.then(() => true),
          new Promise<false>((resolve) => setTimeout(() => resolve(false), 20)),
        ])
      }
      const names: string[] = []
      for await (const name of store.accounts?.() ?? []) names.push(name)
      expect(names).toEqual([account])
    }
    for (const client of [io, ioSubscriber]) client.disconnect()
    for (const client of [node, nodeSubscriber]) client.destroy()
    await server.stop()
  })
})
