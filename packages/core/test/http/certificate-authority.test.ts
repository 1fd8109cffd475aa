/** The option `tls.ca`: what is no certificate as PEM is told with what came, and is never shown. */
import { X509Certificate } from 'node:crypto'
import { beforeAll, expect, it } from '@jest/globals'
import { createSso, transportOf } from '../../src/index.ts'
import { loopbackCertificate } from '../raw-server.ts'
import { startSmallService } from '../small-service.ts'

let pem = ''
let key = ''
beforeAll(async () => {
  const certificate = await loopbackCertificate()
  pem = certificate.cert.trim()
  key = certificate.key
})

it.each<[given: string, ca: () => unknown, message: string]>([
  ['a path', () => '/etc/ssl/our-ca.pem', 'it looks like a path: give what the file holds, readFileSync(path)'],
  ['a path of Windows', () => String.raw`C:\certs\ca.crt`, 'looks like a path'],
  ['a file’s name', () => 'ca.pem', 'looks like a path'],
  ['a file’s address', () => 'file:///etc/ca.pem', 'looks like a path'],
  ['a private key', () => key, 'it is a private key: give the certificate of the authority'],
  [
    'an old private key',
    () => '-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----',
    'a rsa private key',
  ],
  ['a request', () => '-----BEGIN CERTIFICATE REQUEST-----\nMII', 'it is a certificate request'],
  ['DER', () => new X509Certificate(pem).raw, 'it is a certificate as DER: convert it with openssl x509 -inform der'],
  ['DER as base64', () => new X509Certificate(pem).raw.toString('base64'), 'it holds no -----BEGIN CERTIFICATE-----'],
  ['nothing', () => '', 'it is empty'],
  ['an empty file', () => Buffer.alloc(0), 'it is empty'],
  ['lines without anything', () => ' \r\n\n', 'it is empty'],
  ['an empty list', () => [], 'it is an empty list'],
  ['a list with an empty text', () => [pem, ''], 'it is empty'],
  ['a page', () => '<!doctype html><title>404 Not Found</title>', 'it is a page of HTML'],
  ['UTF-16', () => Buffer.from(pem, 'utf16le'), 'it is UTF-16: save it as UTF-8'],
  ['half a certificate', () => pem.slice(0, 400), 'its certificate is damaged or lacks its end'],
  ['a certificate with a letter less', () => pem.replace('MII', 'MI'), 'its certificate is damaged'],
  ['a certificate that is broken in the middle', () => pem.replace(/\n(.)/u, '\n*$1'), 'its certificate is damaged'],
  ['the second of two that is damaged', () => `${pem}\n${pem.slice(0, 300)}`, 'certificate 2 of 2 in it is damaged'],
  ['the first of two that is damaged', () => [`${pem.slice(0, 300)}\n${pem}`], 'of 2 in it is damaged'],
  ['literal line ends', () => pem.replaceAll('\n', String.raw`\n`), String.raw`it has \n, a backslash and an n`],
  ['a number', () => 5, 'it is a number'],
  ['true', () => true, 'it is a boolean'],
  ['null', () => null, 'it is null'],
  ['an object', () => ({ ca: pem }), 'it is an object'],
  ['a certificate of Node’s', () => new X509Certificate(pem), 'it is an X509Certificate'],
  ['words', () => 'the usual ones', 'it holds no -----BEGIN CERTIFICATE-----'],
])('%s is a TypeError that names the option', (_, given, message) => {
  const ca = given()
  const options: [string, object][] = [
    ['tls.ca', { tls: { ca } }],
    ['transport.tls.ca', { transport: { tls: { ca } } }],
  ]
  for (const [name, more] of options) {
    const make = (): unknown => createSso({ authUrl: 'https://auth.example.com', ...more })
    expect(make).toThrow(TypeError)
    expect(make).toThrow(new RegExp(`^${name} must be certificates as PEM text; `, 'u'))
    expect(make).toThrow(message)
    // No line of what came.
    expect(make).not.toThrow(key.split('\n')[1])
  }
})

it.each<[given: string, ca: () => unknown]>([
  ['text', () => pem],
  ['bytes', () => Buffer.from(pem)],
  ['bytes of another kind', () => new Uint8Array(Buffer.from(pem))],
  ['a list', () => [pem, Buffer.from(pem)]],
  ['a byte order mark before it', () => `\uFEFF${pem}`],
  ['lines of Windows', () => pem.replaceAll('\n', '\r\n')],
  ['words around it', () => `# Our authority\n${pem}\nend`],
  ['a key beside it', () => `${key}\n${pem}`],
])('%s is taken, and trusted', async (_, ca) => {
  const given = ca()
  const service = await startSmallService({}, { key, cert: pem })
  try {
    const sso = createSso({ authUrl: service.authUrl, tls: { ca: given as string } })
    await expect(sso.login({ identity: 'a@b.c', credential: 'x' })).resolves.toMatchObject({ token_type: 'Bearer' })
    expect(transportOf({ tls: { ca: given as string } }).tls.ca).not.toContain('PRIVATE KEY')
  } finally {
    await service.close()
  }
})
