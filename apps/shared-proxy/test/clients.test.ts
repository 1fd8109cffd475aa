import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { type Client, clientWithKey, readClients, sha256 } from '../src/clients.ts'
import { SettingsError } from '../src/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'owner-sso-clients-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileWith(content: unknown): string {
  const file = join(folder, 'clients.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const keySha256 = sha256('key').toString('hex')

describe('the file of clients', () => {
  it('gives each client its name, the hash of its key, and its accounts', async () => {
    const file = fileWith({ clients: [{ name: 'home', keySha256: keySha256.toUpperCase(), accounts: ['ann', 'bob'] }] })
    expect(await readClients(file)).toEqual([{ name: 'home', keyHash: sha256('key'), accounts: ['ann', 'bob'] }])
  })

  it('names accounts as tokens are kept under, however they are spelled in it', async () => {
    const accounts = ['Ann@Example.com', ' bob@example.com', 'sub:Subject-1']
    const [client] = await readClients(fileWith({ clients: [{ name: 'home', keySha256, accounts }] }))
    expect(client?.accounts).toEqual(['ann@example.com', 'bob@example.com', 'sub:Subject-1'])
  })

  it.each([
    ['not JSON', '{'],
    ['a list named clients', []],
    ['a list named clients', { clients: {} }],
    ['at least one client', { clients: [] }],
    ['client 1 has no name', { clients: [null] }],
    ['client 1 has no name', { clients: [{ name: '', keySha256, accounts: ['ann'] }] }],
    ['keySha256 of client 1', { clients: [{ name: 'home', keySha256: 'key', accounts: ['ann'] }] }],
    ['accounts of client 1', { clients: [{ name: 'home', keySha256, accounts: [] }] }],
    ['accounts of client 1', { clients: [{ name: 'home', keySha256, accounts: 'ann' }] }],
    ['accounts of client 1', { clients: [{ name: 'home', keySha256, accounts: ['SUB:1'] }] }],
    [
      'two clients have the same API key',
      { clients: ['home', 'away'].map((name) => ({ name, keySha256, accounts: ['ann'] })) },
    ],
  ])('is refused where it has not %s', async (what, content) => {
    const reading = readClients(fileWith(content))
    await expect(reading).rejects.toThrow(SettingsError)
    await expect(reading).rejects.toThrow('OWNER_SSO_CLIENTS_FILE, ')
    await expect(reading).rejects.toThrow(what === 'not JSON' ? 'it must be JSON' : what)
  })

  it('is refused where there is none', async () => {
    await expect(readClients(join(folder, 'none.json'))).rejects.toThrow('can’t be read (ENOENT)')
  })
})

describe('an API key', () => {
  const names = ['first', 'second', 'last']

  /** Clients that count how often their hash is looked at. */
  function counted(): { readonly clients: readonly Client[]; readonly looks: () => number } {
    let looks = 0
    const clients = names.map((name) => ({
      name,
      accounts: ['ann'],
      get keyHash() {
        looks += 1
        return sha256(`key of ${name}`)
      },
    }))
    return { clients, looks: () => looks }
  }

  it.each([...names, 'nobody'])('of %s is compared with that of every client, so that time tells nothing', (name) => {
    const { clients, looks } = counted()
    const found = clientWithKey(clients, `key of ${name}`)
    expect(found?.name).toBe(name === 'nobody' ? undefined : name)
    expect(looks()).toBe(names.length)
  })

  it.each(['', 'key of firs', 'key of first ', 'KEY OF FIRST', sha256('key of first').toString('hex')])(
    'that reads %j is nobody’s',
    (key) => {
      expect(clientWithKey(counted().clients, key)).toBeUndefined()
    },
  )
})
