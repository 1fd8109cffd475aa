/**
 * MSAL for Node with the file cache of its extensions: `acquireTokenSilent`, and `forceRefresh` after a refusal. In the protocol mode `OIDC`, with the
 * metadata given, it talks to a foreign service; that has to be one with TLS.
 * The extensions load a keyring and a broker for Windows, which have to be compiled. The file cache uses neither: they are not installed.
 */
import Module, { createRequire } from 'node:module'
import { join } from 'node:path'

export const about = {
  name: 'MSAL with its extensions',
  packages: ['@azure/msal-node', '@azure/msal-node-extensions'],
  documentation:
    'https://github.com/AzureAD/microsoft-authentication-library-for-js/tree/dev/extensions/msal-node-extensions',
  store: 'file',
  signsInByCode: true,
  worst: 'eight processes at one expiry',
  because:
    'the cache is locked while it is read and written, but not during the request, so several processes send the same refresh token.',
}

const scopes = ['openid', 'offline_access', 'owner']

export async function open({ settings, service }) {
  const { PublicClientApplication, ProtocolMode } = await import('@azure/msal-node')
  const { FilePersistence, PersistenceCachePlugin } = extensions()
  const cachePlugin = new PersistenceCachePlugin(await FilePersistence.create(join(settings.path, 'cache.json')))
  const { issuer } = service
  const metadata = { issuer, authorization_endpoint: issuer, token_endpoint: issuer, jwks_uri: issuer }
  const application = new PublicClientApplication({
    auth: {
      clientId: 'torture',
      authority: issuer,
      knownAuthorities: [new URL(issuer).host],
      authorityMetadata: JSON.stringify(metadata),
    },
    system: { protocolMode: ProtocolMode.OIDC },
    cache: { cachePlugin },
  })
  async function acquire(options) {
    const [account] = await application.getTokenCache().getAllAccounts()
    if (account === undefined) throw Object.assign(new Error('no account'), { code: 'no_account' })
    const { accessToken } = await application.acquireTokenSilent({ account, scopes, ...options })
    return accessToken
  }
  return {
    signIn: (code) => application.acquireTokenByCode({ code, scopes, redirectUri: 'http://localhost' }),
    getAccessToken: () => acquire(),
    refused: () => acquire({ forceRefresh: true }),
  }
}

function extensions() {
  const absent = ['keytar', '@azure/msal-node-runtime']
  /* oxlint-disable no-underscore-dangle -- Node has no other way to leave a module out */
  const { _load: load } = Module
  Module._load = (name, ...rest) => (absent.includes(name) ? {} : load(name, ...rest))
  try {
    return createRequire(import.meta.url)('@azure/msal-node-extensions')
  } finally {
    Module._load = load
  }
}
