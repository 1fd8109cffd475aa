/** Encryption at rest: what it keeps secret, what it refuses, and how a key is changed (S28, S29, S30). */
import { randomBytes } from 'node:crypto'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { copyTokenSets, type TokenRecord, type TokenStore, withEncryption } from '../../src/index.ts'
import type { SealedRecord } from '../../src/store/token-record.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

const key = randomBytes(32)
const record: TokenRecord = { schema: 1, state: 'signed-out', generation: 42 }

async function sealedIn(store = mapStore(), keys = [key]): Promise<SealedRecord> {
  await withEncryption(store, keys).swap('ann', 0, record, 'w')
  const stored = (await store.read('ann'))?.record
  if (stored?.state !== 'sealed') throw new Error('not sealed')
  return stored
}

describe('a sealed store', () => {
  it('gives back what was stored, and conflicts and repeated writes like the store beneath', async () => {
    const store = withEncryption(mapStore(), [key])
    expect(await store.read('ann')).toBeUndefined()
    expect(await store.swap('ann', 0, record, 'w')).toMatchObject({ version: 1, record })
    expect(await store.swap('ann', 0, record, 'w')).toMatchObject({ version: 1, record })
    expect(await store.swap('ann', 0, record, 'other')).toEqual({ conflict: true })
    expect(await store.read('ann')).toMatchObject({ version: 1, record })
  })

  it('tells the names of the writes beneath, and hands down the one that is expected', async () => {
    const store = withEncryption(mapStore(), [key])
    expect(await store.swap('ann', 0, record, 'w')).toMatchObject({ writeId: 'w' })
    expect(await store.read('ann')).toMatchObject({ writeId: 'w' })
    expect(await store.swap('ann', 1, record, 'w2', { expectedWriteId: 'lost' })).toEqual({ conflict: true })
    expect(await store.swap('ann', 1, record, 'w2', { expectedWriteId: 'w' })).toMatchObject({ writeId: 'w2' })
  })

  it('shows nothing of the record in the store beneath', async () => {
    const sealed = await sealedIn()
    expect(Object.keys(sealed).toSorted()).toEqual(['key', 'nonce', 'schema', 'sealed', 'state'])
    expect(JSON.stringify(sealed)).not.toContain('generation')
    expect(Buffer.from(sealed.nonce, 'base64url')).toHaveLength(12)
    // Of the key its name alone, which every version has to make alike.
    expect((await sealedIn(mapStore(), [Buffer.alloc(32)])).key).toBe('-IIwITsndSJo')
    expect(Buffer.from(sealed.sealed, 'base64url').toString('latin1')).not.toContain('generation')
  })

  it('never uses a nonce twice (S30)', async () => {
    const store = mapStore()
    const nonces = new Set<string>()
    for (let version = 0; version < 200; version += 1) {
      await withEncryption(store, [key]).swap('ann', version, record, String(version))
      const stored = (await store.read('ann'))?.record
      nonces.add(stored?.state === 'sealed' ? stored.nonce : '')
    }
    expect(nonces.size).toBe(200)
  })

  it('refuses another account’s record and another version’s (S29)', async () => {
    const sealed = await sealedIn()
    const beneath = mapStore()
    await beneath.swap('ben', 0, sealed, '1')
    await beneath.swap('ann', 0, record, '1')
    await beneath.swap('ann', 1, sealed, '2')
    const store = withEncryption(beneath, [key])
    await expect(store.read('ben')).rejects.toMatchObject({ code: 'ERR_SSO_STORE', reason: 'corrupt' })
    await expect(store.read('ann')).rejects.toMatchObject({ reason: 'corrupt' })
  })

  it('refuses a record that was changed anywhere, and leaves it as it is (S28)', async () => {
    const sealed = await sealedIn()
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('sealed', 'nonce'), fc.nat(), async (field, position) => {
        const bytes = Buffer.from(sealed[field], 'base64url')
        const at = position % bytes.length
        bytes[at] = (bytes[at] ?? 0) ^ 1
        const changed = { ...sealed, [field]: bytes.toString('base64url') }
        const beneath = mapStore()
        await beneath.swap('ann', 0, changed, 'w')
        const store = withEncryption(beneath, [key])
        await expect(store.read('ann')).rejects.toMatchObject({ reason: 'corrupt' })
        expect(await beneath.read('ann')).toMatchObject({ version: 1, record: changed })
      }),
      { numRuns: 50 },
    )
  })

  it('tells a wrong key from a damaged record, and shows neither key nor record in the error', async () => {
    const beneath = mapStore()
    await sealedIn(beneath)
    const wrong = withEncryption(beneath, [randomBytes(32)])
    await expect(wrong.read('ann')).rejects.toMatchObject({ code: 'ERR_SSO_STORE', reason: 'wrong-key' })
    expect((await beneath.read('ann'))?.version).toBe(1)
  })

  it('refuses a record that was never sealed', async () => {
    const beneath = mapStore()
    await beneath.swap('ann', 0, record, 'w')
    const read = withEncryption(beneath, [key]).read('ann')
    await expect(read).rejects.toMatchObject({ reason: 'not-sealed', message: expect.stringContaining('rekey') })
  })

  it('changes its key: the new one seals, the old one still opens', async () => {
    const beneath = mapStore()
    await sealedIn(beneath)
    const newKey = randomBytes(32)
    const store = withEncryption(beneath, [newKey, key])
    expect(await store.read('ann')).toMatchObject({ version: 1, record })
    await store.swap('ann', 1, record, 'w2')
    expect(await withEncryption(beneath, [newKey]).read('ann')).toMatchObject({ version: 2, record })
  })

  it('is filled from an unsealed store', async () => {
    const plain = mapStore()
    await plain.swap('ann', 0, record, 'w')
    const beneath = mapStore()
    const store = withEncryption(beneath, [key])
    expect(await copyTokenSets(plain, store)).toBe(1)
    expect((await beneath.read('ann'))?.record.state).toBe('sealed')
    expect((await store.read('ann'))?.record).toEqual({ ...record, history: expect.stringContaining(' copied ') })
  })

  it.each<[given: unknown, came: string]>([
    [[], ''],
    [randomBytes(16), '; 16 bytes came'],
    [[key, randomBytes(33)], '; 33 bytes came'],
    ['x'.repeat(32), '; text came'],
    [key.toString('base64'), "; text came: write Buffer.from(text, 'base64')"],
    [`${key.toString('base64url')}\n`, "; text came: write Buffer.from(text, 'base64')"],
    [key.toString('hex'), "; text came: write Buffer.from(text, 'hex')"],
    [Buffer.from(key.toString('base64')), "; 44 bytes came: write Buffer.from(text, 'base64')"],
    [Promise.resolve(key), '; a promise came: await it'],
  ])('says what came in place of a key: %#', (given, came) => {
    const must = 'must be 32 random bytes, or a list of such keys with the newest first'
    const sealed = (): TokenStore => withEncryption(mapStore(), given as never)
    expect(sealed).toThrow(new TypeError(`encryptionKey ${must}${came}`))
  })

  it('takes a key of another realm', async () => {
    const foreign: Uint8Array = runInNewContext('new Uint8Array(32).fill(7)')
    const beneath = mapStore()
    await withEncryption(beneath, foreign).swap('ann', 0, record, 'w')
    expect(await withEncryption(beneath, [Buffer.alloc(32, 7)]).read('ann')).toMatchObject({ record })
  })
})
