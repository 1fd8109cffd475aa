import { describe, expect, it } from '@jest/globals'
import { startEmulator, type ChangeableOptions, type Emulator, type EmulatorOptions } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'

const emulator = useEmulator()
const account = { identity: 'a@example.com', credential: 'x' }

/** As JavaScript calls it: with anything. */
const start = (options: unknown): Promise<Emulator> => Reflect.apply(startEmulator, undefined, [options])
const change = (options: unknown): void => Reflect.apply(emulator.change, undefined, [options])

it('the types of the options are as narrow as what is taken', () => {
  const right: EmulatorOptions = { mfaAt: 'form-submission', firewall: { maxRequests: null }, rotation: undefined }
  // @ts-expect-error -- no such value
  const wrongValue: EmulatorOptions = { rotation: 'sometimes' }
  // @ts-expect-error -- no such field
  const wrongField: EmulatorOptions = { firewall: { maxrequests: 5 } }
  // @ts-expect-error -- it is settled at the start
  const tooLate: ChangeableOptions = { port: 9000 }
  expect([right, wrongValue, wrongField, tooLate]).toHaveLength(4)
})

describe('an option that can change while the emulator runs', () => {
  it.each<[keyof ChangeableOptions, readonly unknown[], readonly unknown[]]>([
    ['strictness', ['document', 'lenient'], ['loose']],
    ['mfaAt', ['code-exchange', 'form-submission'], ['login', 'toString', 7]],
    [
      'passcodePage',
      [{}, { csrf: 'none' }, { inTemplate: undefined }],
      [null, [], { csrf: 1 }, { csrf: 'nowhere' }, { twice: true }, { toString: true }],
    ],
    ['identityFirst', [true, false], ['yes']],
    ['formAfterPasscode', ['whole', 'transaction-id'], ['half']],
    [
      'hiddenInputs',
      [{ rename: { _csrf: 'x' }, extra: {} }],
      [{ rename: { _csrf: 1 } }, { rename: { other: 'x' } }, { rename: { toString: 'x' } }, { more: {} }],
    ],
    ['codeChallengeEncoding', ['either', undefined], ['plain']],
    ['redirectUris', [[], ['a:b']], [['a'], 'a:b', [1]]],
    ['rotation', ['single-use', 'same', 'omit'], ['sometimes']],
    ['reuse', ['refuse', 'revoke-family', 'grace', 'grace-stale'], ['allow']],
    ['refreshTokenLifetime', [null, 0, 0.5], [-1, 'long', Number.NaN]],
    ['accessTokenLifetime', [0], [Infinity]],
    ['accessTokenFormat', ['jwt', 'opaque'], ['saml']],
    ['mintedBy', [null, {}, { tls: 'TLSv1.3', http: '2' }], [false, { tls: '1.3' }]],
    ['expiresIn', [null, 0, ''], [{}, true]],
    [
      'firewall',
      [false, {}, { maxRequests: null }, { maxRequests: Infinity }, { windowSeconds: 0.5 }, { blockSeconds: 1 }],
      [true, null, { maxRequests: 0 }, { blockSeconds: -1 }, { blockSeconds: '1' }, { windowSeconds: null }],
    ],
    ['allowBrowsers', [true, false], ['x', /x/u, null]],
    ['latency', [0, 0.5], [-1, '1', Infinity]],
  ])('%s takes each of these values, and no other', (name, good, bad) => {
    for (const value of good) expect(() => change({ [name]: value })).not.toThrow()
    for (const value of bad) {
      expect(() => change({ [name]: value })).toThrow(TypeError)
      expect(() => change({ [name]: value })).toThrow(`ption ${name}`)
    }
  })
})

describe('a wrong option of startEmulator', () => {
  it.each<[string, unknown]>([
    ['port', -1],
    ['port', 65_536],
    ['port', 1.5],
    ['port', '80'],
    ['ownerApiPort', 65_536],
    ['host', '0.0.0.0'],
    ['tls', 'yes'],
    ['http2', null],
    ['accounts', {}],
    ['colour', 'blue'],
    ['accounts[0].identity', ''],
    ['accounts[0].totpSecret', 'not base32!'],
    ['accounts[0].factors', [{ name: 'x' }]],
    ['accounts[0].factors', [{ name: '', totpSecret: 'MY' }]],
    ['accounts[0].factors', [{ name: 'x', totpSecret: '1' }]],
    ['accounts[0].factors', [{ name: 'x', totpSecret: 'MY', id: '' }]],
    ['accounts[0].factors', [{ name: 'x', totpSecret: 'MY', iD: 'x' }]],
    ['accounts[0].backupCodes', ['12345678']],
    ['accounts[0].backupCodes', ['1234567890']],
    ['accounts[0].region', 'abroad'],
    ['accounts[0].captcha', 'sometimes'],
    ['accounts[0].shoeSize', 43],
  ])('%s: %j is a TypeError that names it', async (name, value) => {
    const own = name.split('.')[1]
    const options = own === undefined ? { [name]: value } : { accounts: [{ ...account, [own]: value }] }
    const error = await start(options).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toContain(`ption ${name}`)
  })

  it.each<[string, string, object]>([
    ['ratation', 'rotation', { ratation: 'same' }],
    ['firewall.maxrequests', 'firewall.maxRequests', { firewall: { maxrequests: 5 } }],
    ['passcodePage.crsf', 'passcodePage.csrf', { passcodePage: { crsf: 'none' } }],
    ['mintedBy.tsl', 'mintedBy.tls', { mintedBy: { tsl: 'TLSv1.2' } }],
    ['accounts[0].totpsecret', 'accounts[0].totpSecret', { accounts: [{ ...account, totpsecret: 'MY' }] }],
  ])('is a mistyped one: %s, and the message asks for %s', async (typed, meant, options) => {
    const refused = `Unknown option ${typed}. Did you mean ${meant}? There are `
    await expect(start(options)).rejects.toThrow(TypeError)
    await expect(start(options)).rejects.toThrow(refused)
  })

  it('is a mistyped one of a sign-in by hand', async () => {
    const typo: object = { idenity: 'plain@example.com' }
    await expect(emulator.signInByHand(emulator.authUrl, typo)).rejects.toThrow('Did you mean identity?')
  })

  it('is a missing identity or credential, and an identity that comes twice', async () => {
    const incomplete = { accounts: [{ identity: 'a@example.com' }] }
    await expect(start(incomplete)).rejects.toThrow('accounts[0].credential is missing')
    await expect(start({ accounts: [{ credential: 'x' }] })).rejects.toThrow('accounts[0].identity is missing')
    const twins = [account, { ...account, identity: ' A@Example.com' }]
    await expect(start({ accounts: twins })).rejects.toThrow("accounts[1].identity is another account's")
    await expect(start([])).rejects.toThrow('must be an object')
  })

  it('is not an option that is undefined', async () => {
    const options = { port: undefined, rotation: undefined, accounts: undefined, firewall: undefined }
    await using other = await start(options)
    expect(other.accounts).toHaveLength(3)
  })
})

it('fields that are left out of an option keep their defaults', async () => {
  await using other = await startEmulator({ firewall: { maxRequests: 1 } })
  const { options }: { options: Record<string, unknown> } = JSON.parse(
    await (await fetch(`${other.authUrl}/_emulator/state`)).text(),
  )
  expect(options['firewall']).toEqual({ maxRequests: 1, windowSeconds: 60, blockSeconds: 900 })
})
