import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { openClients } from '../src/clients.ts'
import { SettingsError } from '../src/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'owner-sso-clients-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileWith(content: unknown): string {
  const file = join(folder, 'clients.json')
  writeFileSync(file, JSON.stringify(content))
  return file
}

describe('the file of clients', () => {
  it('has clients with the scope proxy where none is given', async () => {
    const keySha256 = '2C70E12B7A0646F92279F427C7B38E7334D8E5389CFF167A1DC30E73F826B683'
    const clients = await openClients(
      fileWith({ clients: [{ name: 'home', keySha256, accounts: ['Ann@Example.com'] }] }),
    )
    expect(await clients.find('key')).toMatchObject({ name: 'home', accounts: ['ann@example.com'], scope: ['proxy'] })
  })

  it.each([
    ['there is no client in', {}],
    ['there is no client in', { clients: [] }],
    ['client 1: it has no name', { clients: [null] }],
    ['must be a JSON object', []],
  ])('is rejected because %s', async (what, content) => {
    const opening = openClients(fileWith(content))
    await expect(opening).rejects.toThrow(SettingsError)
    await expect(opening).rejects.toThrow('OWNER_SSO_CLIENTS_FILE')
    await expect(opening).rejects.toThrow(what)
  })

  it('is rejected where there is none', async () => {
    await expect(openClients(join(folder, 'none.json'))).rejects.toThrow('there is no client in')
  })
})
