import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import axios from 'axios'
import { attachBearer, ownerApiProxy, ownerFetch } from '../../src/index.ts'
import { listen } from '../servers.ts'
import { account, token, tokensOf } from '../tokens.ts'

const emulator = useEmulator({ tls: true, firewall: false })

it('a token is not sent to a server that can’t be verified, also where checks are turned off after the start', async () => {
  const before = emulator.requests.length
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--no-warnings',
    fileURLToPath(new URL('unverified-process.mjs', import.meta.url)),
    new URL(emulator.ownerApiUrl).port,
    token,
  ])
  expect(JSON.parse(stdout)).toEqual({
    axios: expect.stringMatching(/^TypeError: .*NODE_TLS_REJECT_UNAUTHORIZED/u),
    fetch: expect.stringMatching(/^TypeError: .*NODE_TLS_REJECT_UNAUTHORIZED/u),
  })
  expect(emulator.requests.length).toBe(before)
})

describe('while NODE_TLS_REJECT_UNAUTHORIZED is 0', () => {
  const { env } = process
  const closing: (() => Promise<void>)[] = []
  beforeEach(() => {
    process.env = { ...env }
  })
  afterEach(async () => {
    process.env = env
    for (const close of closing.splice(0)) await close()
  })

  it('the proxy forwards nothing, and works again once it is gone', async () => {
    const target = 'https://owner-api.invalid'
    const proxy = ownerApiProxy({ target, tokens: await tokensOf(), account, authorize: true })
    const home = await listen(proxy)
    closing.push(
      () => home.close(),
      () => proxy.close(),
    )
    const codeOf = async (): Promise<unknown> => {
      const answer = await fetch(`${home.url}/api/1/vehicles`)
      return [answer.status, ((await answer.json()) as { code: unknown }).code]
    }
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    expect(await codeOf()).toEqual([500, 'ERR_OWNER_API_INTERNAL'])
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    expect(await codeOf()).toEqual([502, 'ERR_OWNER_API_UNREACHABLE'])
  })

  it('calls to a loopback host are made', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    const home = await listen((_request, response) => response.end('{}'))
    closing.push(() => home.close())
    const tokens = await tokensOf()
    expect((await attachBearer(axios.create(), { tokens, account }).get(home.url)).status).toBe(200)
    expect((await ownerFetch({ tokens, account })(home.url)).status).toBe(200)
  })
})
