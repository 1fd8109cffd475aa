/** A kind of store is one file and one line of the table: everything that is said of stores comes from there. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { useEmulator } from '@owner-sso/emulator/jest'
import { describe, expect, it } from '@jest/globals'
import { addressForms, storeAt, storeKinds } from '../src/stores/store-kinds.ts'
import { newMachine } from './machine.ts'

const source = fileURLToPath(new URL('../src', import.meta.url))
const emulator = useEmulator()
const forms = storeKinds.flatMap(({ help }) => help.forms)

describe('the table of stores', () => {
  it('is the only place that names a kind', () => {
    const schemes = forms.map((form) => form.replace(/:.*$/u, ''))
    const naming = new RegExp(String.raw`['"\x60](?:${schemes.join('|')})['"\x60:]|token-store-\w`, 'u')
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const others = files.filter((file) => !file.startsWith('stores'))
    expect(others.length).toBeGreaterThan(40)
    expect(others.filter((file) => naming.test(readFileSync(join(source, file), 'utf8')))).toEqual([])
    for (const { scheme } of storeKinds) {
      expect(naming.test(readFileSync(join(source, 'stores', `${scheme}.ts`), 'utf8'))).toBe(true)
    }
  })

  it.each(storeKinds.map((kind) => [kind.scheme, kind] as const))('knows what an address of %s is', (_, kind) => {
    for (const form of kind.help.forms) {
      const address = form.replace('PATH', '/srv/tokens').replace('HOST:PORT', 'ann:hush@127.0.0.1:6379')
      const { kind: found, place } = storeAt(address)
      expect(found.scheme).toBe(kind.scheme)
      expect(kind.shown(place)).not.toContain('hush')
      expect(storeAt(kind.shown(place)).kind.scheme).toBe(kind.scheme)
    }
  })

  it('says which of them many machines may share', () => {
    const shared = storeKinds.filter(({ isOfNetwork }) => isOfNetwork === true)
    expect(shared.map(({ scheme }) => scheme)).toEqual(['redis', 'postgres'])
  })

  it('is what help, stores and an address that is not understood say', async () => {
    const machine = newMachine(emulator)
    const [help, stores, unknown] = await Promise.all(
      [['--help'], ['stores'], ['stores', '--store', 'unknown:']].map((args) => machine.run(args)),
    )
    machine.remove()
    // The help breaks its lines.
    expect(help?.stdout.replaceAll(/\s+/gu, ' ')).toContain(addressForms())
    for (const { help: told } of storeKinds) expect(stores?.stdout).toContain(told.what)
    expect(unknown?.code).toBe(2)
    for (const form of forms) expect(unknown?.stderr).toContain(form)
  })

  it('has one to try a sign-in with, of which nothing stays', async () => {
    const machine = newMachine(emulator)
    const tried = await machine.signIn('plain@example.com', { env: { OWNER_SSO_STORE: 'memory:' } })
    expect(tried).toMatchObject({ code: 0 })
    expect(await machine.run(['token'])).toMatchObject({ code: 3 })
    machine.remove()
  })

  it('is the table of the README', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    const [, table = ''] = /<!-- stores -->\s+\| store.*\n\| -.*\n([\s\S]*?)\n<!-- end -->/u.exec(readme) ?? []
    const rows = table.trim().split('\n')
    expect(
      rows.map((row) =>
        row
          .split('|')
          .map((cell) => cell.trim())
          .slice(1, 3),
      ),
    ).toEqual(storeKinds.map(({ help }) => [help.forms.map((form) => `\`${form}\``).join(', '), help.what]))
  })
})
