/** What stands in files, variables and forms beside a secret, and what can be none. */
import { describe, expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import { createSso, secretFromText, settingFromText, textFromUtf8, typedEmail } from '../../src/index.ts'

const emulator = useEmulator()
const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

describe('a secret', () => {
  it.each([
    ['\uFEFFcorrect horse', 'correct horse'],
    ['correct horse\n', 'correct horse'],
    ['\uFEFFcorrect horse\r\n\r\n', 'correct horse'],
    [' correct horse ', ' correct horse '],
    ['"correct horse"', '"correct horse"'],
    ['pässword', 'pässword'],
    ['\n', ''],
  ])('%j is read as %j', (text, secret) => expect(secretFromText(text, 'credential')).toBe(secret))

  it.each([
    ['correct\nhorse', 'PASSWORD has several lines'],
    ['\ncorrect horse', 'PASSWORD has several lines'],
    ['c\0o\0r\0', 'PASSWORD is UTF-16'],
    ['p\uFFFDssword', 'PASSWORD is not UTF-8'],
  ])('%j is rejected, and not shown', (text, problem) => {
    expect(() => secretFromText(text, 'PASSWORD')).toThrow(TypeError)
    expect(() => secretFromText(text, 'PASSWORD')).toThrow(problem)
    expect(() => secretFromText(text, 'PASSWORD')).not.toThrow(/horse|ssword/u)
  })

  it('in a file in UTF-8 is read, without a byte order mark', () =>
    expect(textFromUtf8(bytes([0xef, 0xbb, 0xbf], 'pä'), 'x')).toBe('pä'))

  it.each([
    ['UTF-16, little endian', bytes([0xff, 0xfe, 0x70, 0x00]), 'x is UTF-16'],
    ['UTF-16, big endian', bytes([0xfe, 0xff, 0x00, 0x70]), 'x is UTF-16'],
    ['Latin-1', bytes([0x70, 0xe4]), 'x is not UTF-8'],
  ])('in a file in %s is rejected', (_encoding, content, problem) =>
    expect(() => textFromUtf8(content, 'x')).toThrow(problem),
  )
})

describe('a setting', () => {
  it('is read without the spaces and line breaks around it', () => {
    expect(settingFromText('\uFEFF ann@example.com \r\n', 'X')).toBe('ann@example.com')
    expect(settingFromText('"john doe"@example.com', 'X')).toBe('"john doe"@example.com')
  })

  it.each([
    ['"ann@example.com"', 'X has quotation marks around it, which count: write X=ann@example.com'],
    ["'ann@example.com'\n", 'write X=ann@example.com'],
    ['“ann@example.com”', 'write X=ann@example.com'],
    ['""', 'X has quotation marks around it, which count'],
  ])('%s is rejected, and the error says what to write', (text, problem) =>
    expect(() => settingFromText(text, 'X')).toThrow(problem),
  )

  it.each([
    'Ann <ann@example.com>',
    '<ann@example.com>',
    'mailto:ann@example.com',
    'ann@example.com,',
    'ann@example.com.',
    'ann @example.com',
    'a\u200Bnn@example.com',
    'ann@example.com;jo@example.com',
  ])('that should be an e-mail and has more in it (%j) sends nothing', async (identity) => {
    const login = createSso({ authUrl: emulator.authUrl }).login({ identity, credential: 'x' })
    await expect(login).rejects.toThrow('identity must be an e-mail alone, such as ann@example.com')
    expect(emulator.counters.loginPages).toBe(0)
  })

  it('that is an address is not shown in the error: it may have a password in it', () =>
    expect(() => settingFromText('"redis://:secret@host"', 'X')).toThrow(/^[^:]*$/u))
})

describe('an e-mail', () => {
  it.each([
    ' ann@example.com',
    '\u202Aann@example.com\u202C',
    'ann@\u200Bexample.com',
    '"ann@example.com"',
    '‘ann@example.com’',
  ])('typed as %j is understood', (typed) => expect(typedEmail(typed)).toBe('ann@example.com'))
})

describe('a login', () => {
  const sso = () => createSso({ authUrl: emulator.authUrl })
  const [identity, credential] = ['plain@example.com', 'correct horse']

  it('with what a tool put around the secrets posts them without it', async () => {
    await sso().login({ identity: '\uFEFFplain@example.com\r\n', credential: '\uFEFFcorrect horse\n' })
    expect(emulator.counters.codeExchanges).toBe(1)
  })

  it.each([
    { identity: '"plain@example.com"', credential },
    { identity: 'plain@example.com\nother@example.com', credential },
    { identity, credential: 'correct\nhorse' },
    { identity, credential: 'correct\0horse' },
    { identity, credential: 'p\uFFFDssword' },
    { identity, credential: '\n' },
  ])('with %j sends nothing', async (credentials) => {
    await expect(sso().login(credentials)).rejects.toThrow(TypeError)
    await expect(sso().beginLogin(credentials)).rejects.toThrow(TypeError)
    expect(emulator.requests).toEqual([])
  })
})
