/** The options of `oauthIssuer`: a mistake is a TypeError that names it, and shows no secret. */
import { generateKeyPairSync } from 'node:crypto'
import { expect, it } from '@jest/globals'
import { oauthIssuer, type OauthIssuerOptions } from '../../src/oauth/oauth-issuer.ts'

const clientId = 'app'
const issuer = 'https://id.example.com'
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a program in JavaScript may give
const any = (options: unknown): OauthIssuerOptions => options as OauthIssuerOptions

it.each<[unknown, string]>([
  [undefined, 'oauthIssuer takes an object with issuer, tokenUrl, '],
  [{ issuer }, 'clientId must be a non-empty string'],
  [{ issuer, clientId: '' }, 'clientId must be a non-empty string'],
  [{ clientId }, 'issuer is not given, nor tokenUrl: one of them is needed'],
  [{ issuer: 'id.example.com', clientId }, 'issuer must be an address with https'],
  [{ issuer: 'http://id.example.com', clientId }, 'issuer must be an address with https'],
  [{ tokenUrl: 'https://me:secret@id.example.com/token', clientId }, 'tokenUrl must be an address with https'],
  [{ tokenUrl: 'https://id.example.com/token#x', clientId }, 'tokenUrl must be an address with https'],
  [{ issuer, clientId, authorizationUrl: 7 }, 'authorizationUrl must be an address with https'],
  [{ issuer, clientId, redirectUri: 'callback' }, 'redirectUri must be an address'],
  [{ issuer, clientId, clientSecret: 7 }, 'clientSecret must be a non-empty string; a number came'],
  [{ issuer, clientId, clientsecret: 'x' }, 'clientsecret is not an option of oauthIssuer. Did you mean clientSecret?'],
  [{ issuer, clientId, clientAuthentication: 'basic' }, "clientAuthentication 'basic' needs clientSecret"],
  [
    { issuer, clientId, clientAuthentication: 'private_key_jwt' },
    "clientAuthentication 'private_key_jwt' needs privateKey",
  ],
  [
    { issuer, clientId, clientAuthentication: 'toString' },
    'clientAuthentication must be basic, post, none or private_key_jwt',
  ],
  [{ issuer, clientId, privateKey: 'no key of mine' }, 'privateKey must be a private key, as PEM text or as a JWK'],
  [{ issuer, clientId, privateKey: { kty: 'EC' } }, 'privateKey must be a private key, as PEM text or as a JWK'],
  [{ issuer, clientId, encoding: 'xml' }, 'encoding must be form or json'],
  [{ issuer, clientId, parameters: { resource: 7 } }, 'parameters must be an object of strings'],
  [{ issuer, clientId, tls: { rejectUnauthorized: false } }, 'tls.rejectUnauthorized is not an option'],
  [{ issuer, clientId, proxy: 'proxy:3128' }, 'proxy must be an http or https address'],
])('%p', (options, message) => {
  expect(() => oauthIssuer(any(options))).toThrow(TypeError)
  expect(() => oauthIssuer(any(options))).toThrow(message)
})

it('quotes no key in its error', () => {
  const { publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  expect(() => oauthIssuer({ issuer, clientId, privateKey: publicKey })).toThrow(
    /^privateKey must be a private key, as PEM text or as a JWK$/u,
  )
})

it('names the issuer and the client in what its tokens carry', () => {
  expect(oauthIssuer({ issuer, clientId: 'my app' }).authUrl).toBe('https://id.example.com/#client=my%20app')
})

it('takes an option that is undefined for one that was left out', () => {
  expect(() =>
    oauthIssuer({ issuer, clientId, clientSecret: undefined, clientAuthentication: undefined }),
  ).not.toThrow()
})
