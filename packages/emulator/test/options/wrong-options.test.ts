import { describe, expect, it } from '@jest/globals'
import { startEmulator, type Emulator } from '../../src/index.ts'

const account = { identity: 'a@example.com', credential: 'x' }

/** As JavaScript calls it: with anything. */
const start = (options: unknown): Promise<Emulator> => Reflect.apply(startEmulator, undefined, [options])

describe('a wrong option', () => {
  it.each<[string, unknown]>([
    ['port', -1],
    ['port', '80'],
    ['ownerApiPort', 65_536],
    ['host', ''],
    ['allowRemote', 1],
    ['regionalAt', 'host'],
    ['tls', 'yes'],
    ['tlsMaxVersion', 'TLSv1.1'],
    ['tlsMinVersion', 'TLSv1'],
    ['accounts', {}],
    ['mfaAt', 'login'],
    ['codeChallengeEncoding', 'plain'],
    ['rotation', 'sometimes'],
    ['reuse', 'allow'],
    ['graceSeconds', -1],
    ['expiresIn', {}],
    ['accessTokenLifetime', Infinity],
    ['accessTokenFormat', 'saml'],
    ['sessionLifetime', '900'],
    ['codeLifetime', -1],
    ['passcodeLifetime', Infinity],
    ['refreshTokenLifetime', 'long'],
    ['firewallCookies', ['_abck', 'no name']],
    ['latency', -1],
    ['hiddenInputs', { rename: { other: 'x' } }],
    ['hiddenInputs', { more: {} }],
    ['passcodePage', { twice: true }],
    ['passcodePage', { csrf: 'nowhere' }],
    ['identityFirst', 'yes'],
    ['captchaKind', 'cats'],
    ['factorList', 'map'],
    ['formAfterPasscode', 'half'],
    ['redirectUris', ['not an address']],
    ['redirectParameters', { locale: 1 }],
    ['wrongCredentials', 403],
    ['errorTexts', 'nowhere'],
    ['strictness', 'loose'],
    ['firewall', true],
    ['firewall', { maxRequests: 0 }],
    ['allowBrowsers', 'firefox'],
    ['colour', 'blue'],
    ['accounts[0].identity', ''],
    ['accounts[0].totpSecret', 'not base32!'],
    ['accounts[0].factors', [{ name: 'x' }]],
    ['accounts[0].backupCodes', ['short']],
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

  it('is a mistyped one of a factor, and of a sign-in by hand', async () => {
    const factors = [{ name: 'Phone', totpSecret: 'MY', iD: 'x' }]
    const ofFactors = 'Option accounts[0].factors must be an array of { id?, name, totpSecret }'
    await expect(start({ accounts: [{ ...account, factors }] })).rejects.toThrow(ofFactors)
    await using emulator = await start({})
    const typo: object = { idenity: 'plain@example.com' }
    await expect(emulator.signInByHand(emulator.authUrl, typo)).rejects.toThrow('Did you mean identity?')
  })

  it('is a missing identity or credential, and an identity that comes twice', async () => {
    const incomplete = { accounts: [{ identity: 'a@example.com' }] }
    await expect(start(incomplete)).rejects.toThrow('accounts[0].credential is missing')
    const twins = [account, { ...account, identity: 'A@Example.com' }]
    await expect(start({ accounts: twins })).rejects.toThrow('accounts[1].identity')
    await expect(start([])).rejects.toThrow('must be an object')
  })

  it('is not one that is undefined', async () => {
    const options = { port: undefined, rotation: undefined, accounts: undefined, firewall: undefined }
    await using emulator = await start(options)
    expect(emulator.accounts).toHaveLength(3)
  })
})
