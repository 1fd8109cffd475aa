/** The environment: what is read, and what is refused in words. */
import { describe, expect, it } from '@jest/globals'
import { settingsFrom } from '../src/settings.ts'

const service = { OWNER_SSO_AUTH_URL: 'https://auth.example.com', OWNER_SSO_API_URL: 'https://api.example.com' }

describe('settingsFrom', () => {
  it('is the demo on port 3000 of this machine when nothing is set, or set to nothing', () => {
    const settings = { host: '127.0.0.1', port: 3000, behindHttpsProxy: false, refresh: 'here' }
    expect(settingsFrom({})).toEqual(settings)
    expect(settingsFrom({ PORT: '', HOST: '', OWNER_SSO_AUTH_URL: '' })).toEqual(settings)
  })

  it('takes the service, its regions and the owner API', () => {
    const regions = { OWNER_SSO_REGIONAL_AUTH_URLS: 'https://auth.example.cn, https://auth.example.org' }
    expect(settingsFrom({ ...service, ...regions, PORT: '0', OWNER_SSO_BEHIND_HTTPS_PROXY: '1' })).toEqual({
      host: '127.0.0.1',
      port: 0,
      behindHttpsProxy: true,
      refresh: 'here',
      service: {
        sso: {
          authUrl: 'https://auth.example.com',
          regionalAuthUrls: ['https://auth.example.cn', 'https://auth.example.org'],
        },
        apiUrl: 'https://api.example.com',
      },
    })
  })

  it('takes how the service is spoken to, its redirect address, and where its tokens come from', () => {
    const how = {
      OWNER_SSO_SERVICE: 'current',
      OWNER_SSO_TRANSPORT: '{"http2":true}',
      OWNER_SSO_REDIRECT_URI: 'owner-app://auth/callback',
    }
    const where = { OWNER_SSO_TOKEN_URL: '{"https://auth.example.com":"https://token.example.com"}' }
    expect(settingsFrom({ ...service, ...how, ...where }).service?.sso).toMatchObject({
      service: 'current',
      transport: { http2: true },
      redirectUri: 'owner-app://auth/callback',
      tokenUrl: { 'https://auth.example.com': 'https://token.example.com' },
    })
  })

  it('takes no byte order mark and no line break for a part of a variable', () => {
    const secret = 'at least thirty-two characters long '
    expect(settingsFrom({ OWNER_SSO_SESSION_SECRET: `\uFEFF${secret}\n` }).sessionSecret).toBe(secret)
  })

  it.each([
    [{ ...service, OWNER_SSO_TRANSPORT: 'quic' }, 'OWNER_SSO_TRANSPORT'],
    [{ ...service, OWNER_SSO_SERVICE: 'today' }, 'OWNER_SSO_SERVICE'],
    [{ ...service, OWNER_SSO_CODE_CHALLENGE_ENCODING: 'plain' }, 'OWNER_SSO_CODE_CHALLENGE_ENCODING'],
    [{ ...service, OWNER_SSO_TOKEN_URL: '{' }, 'OWNER_SSO_TOKEN_URL'],
    [{ PORT: 'http' }, 'PORT'],
    [{ PORT: '-1' }, 'PORT'],
    [{ PORT: '65536' }, 'PORT'],
    [{ OWNER_SSO_AUTH_URL: 'https://auth.example.com' }, 'OWNER_SSO_API_URL'],
    [{ ...service, OWNER_SSO_API_URL: 'http://api.example.com' }, 'OWNER_SSO_API_URL'],
    [{ ...service, OWNER_SSO_API_URL: 'http://127.0.0.1.example.com' }, 'OWNER_SSO_API_URL'],
    [{ ...service, OWNER_SSO_API_URL: 'nonsense' }, 'OWNER_SSO_API_URL'],
    [{ OWNER_SSO_SESSION_SECRET: 'short' }, 'OWNER_SSO_SESSION_SECRET'],
    [
      { OWNER_SSO_SESSION_SECRET: 'two lines, of which there\nmust be but one' },
      'OWNER_SSO_SESSION_SECRET has several lines',
    ],
    [{ ...service, OWNER_SSO_AUTH_URL: '"https://auth.example.com"' }, 'OWNER_SSO_AUTH_URL has quotation marks'],
  ])('rejects %j and names the variable', (environment, name) => {
    expect(() => settingsFrom(environment)).toThrow(name)
  })
})
