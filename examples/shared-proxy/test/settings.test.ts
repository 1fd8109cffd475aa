import { describe, expect, it } from '@jest/globals'
import { settingsFrom } from '../src/settings.ts'

const complete = {
  OWNER_SSO_AUTH_URL: 'https://auth.example.com',
  OWNER_SSO_API_URL: 'https://api.example.com/base',
  OWNER_SSO_STORE: 'rediss://user:hush@redis.example.com:6379/1',
}

describe('the settings', () => {
  it('need three variables and have defaults for the others', () => {
    expect(settingsFrom(complete)).toEqual({
      sso: { authUrl: 'https://auth.example.com' },
      hasCollector: false,
      apiUrl: 'https://api.example.com/base',
      storeUrl: 'rediss://user:hush@redis.example.com:6379/1',
      host: '127.0.0.1',
      port: 8080,
      graceSeconds: 30,
    })
  })

  it('take every one from the environment', () => {
    const more = {
      OWNER_SSO_REGIONAL_AUTH_URLS: 'https://auth.example.cn, http://localhost:9000',
      OWNER_SSO_TOKEN_URL: 'https://token.example.com',
      HOST: '0.0.0.0',
      PORT: '0',
      OWNER_SSO_SERVICE: 'current',
      OWNER_SSO_TRANSPORT: 'modern',
      OWNER_SSO_REDIRECT_URI: 'owner-app://auth/callback',
      OWNER_SSO_GRACE_SECONDS: '5',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      OWNER_SSO_REQUEST_BUDGET: '300:5',
      OWNER_SSO_SPOOL: '/var/lib/owner-sso/spool',
      OWNER_SSO_ENCRYPTION_KEY: [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64')).join(', '),
    }
    expect(settingsFrom({ ...complete, ...more })).toMatchObject({
      sso: {
        service: 'current',
        regionalAuthUrls: ['https://auth.example.cn', 'http://localhost:9000'],
        tokenUrl: 'https://token.example.com',
        transport: 'modern',
        redirectUri: 'owner-app://auth/callback',
      },
      host: '0.0.0.0',
      port: 0,
      graceSeconds: 5,
      hasCollector: true,
      requestBudget: { perMinute: 300, burst: 5 },
      spool: '/var/lib/owner-sso/spool',
      encryptionKeys: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
    })
  })

  it.each([
    ['OWNER_SSO_AUTH_URL', ''],
    ['OWNER_SSO_SERVICE', 'today'],
    ['OWNER_SSO_TOKEN_URL', '{hush'],
    ['OWNER_SSO_API_URL', ' '],
    ['OWNER_SSO_API_URL', 'api.example.com'],
    ['OWNER_SSO_API_URL', 'https://api.example.com?key=hush'],
    ['OWNER_SSO_STORE', ''],
    ['OWNER_SSO_STORE', 'file:///var/hush'],
    ['OWNER_SSO_STORE', 'redis-hush:6379'],
    ['OWNER_SSO_ENCRYPTION_KEY', 'hush'],
    ['OWNER_SSO_SPOOL', 'spool'],
    ['OWNER_SSO_REQUEST_BUDGET', 'hush'],
    ['PORT', '65536'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'hush:4318'],
    ['PORT', 'http'],
    ['OWNER_SSO_GRACE_SECONDS', '-1'],
  ])('reject %s="%s" with a sentence that names it and repeats no secret', (name, value) => {
    const attempt = (): unknown => settingsFrom({ ...complete, [name]: value })
    expect(attempt).toThrow(TypeError)
    expect(attempt).toThrow(new RegExp(String.raw`^${name} (?:is not set: it )?must be .+$`, 'u'))
    expect(attempt).not.toThrow('hush')
  })

  it('lose a byte order mark and line breaks, and have no quotation marks around them', () => {
    const url = 'https://auth.example.org'
    expect(settingsFrom({ ...complete, OWNER_SSO_AUTH_URL: `\uFEFF${url}\r\n` }).sso.authUrl).toBe(url)
    const keys = `"${Buffer.alloc(32, 1).toString('base64')}",\n${Buffer.alloc(32, 2).toString('base64')}\n`
    expect(settingsFrom({ ...complete, OWNER_SSO_ENCRYPTION_KEY: keys }).encryptionKeys).toHaveLength(2)
    const attempt = (): unknown => settingsFrom({ ...complete, OWNER_SSO_STORE: '"redis://:hush@127.0.0.1"' })
    expect(attempt).toThrow(new TypeError('OWNER_SSO_STORE has quotation marks around it, which count'))
  })
})
