/**
 * What stands for the service in one run: a certificate for its hosts, by an authority that can never sign another one, and that
 * counts for no other host.
 */
import { webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import type { GeneralName } from '@peculiar/x509'

export interface RunCertificate {
  readonly authority: string
  readonly cert: string
  readonly key: string
}

const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256' }
const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' }

/** Milliseconds. As long as clients accept: the program may run for months, and has read the authority at its start. */
const [anHour, lifetime] = [3_600_000, 397 * 86_400_000]

/**
 * The authority's key can't be exported, and nobody has it once this returns. The other one is known to this process alone.
 *
 * @param names - host names and IP addresses
 */
export async function runCertificate(names: readonly string[]): Promise<RunCertificate> {
  const x509 = await import('@peculiar/x509')
  x509.cryptoProvider.set(webcrypto)
  const subjects = names.map((name) => new x509.GeneralName(isIP(name) === 0 ? 'dns' : 'ip', name))
  const authorityKeys = await webcrypto.subtle.generateKey(keyAlgorithm, false, ['sign', 'verify'])
  const keys = await webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify'])
  const validity = { notBefore: new Date(Date.now() - anHour), notAfter: new Date(Date.now() + lifetime) }
  // All that RFC 5280 wants to see: Python looks closely from 3.13 on.
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=owner-sso broker run',
    ...validity,
    signingAlgorithm,
    keys: authorityKeys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      new x509.Extension(nameConstraints, true, constraintsTo(subjects)),
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  })
  const certificate = await x509.X509CertificateGenerator.create({
    // Not its common name, which some clients take for a host.
    subject: 'O=owner-sso broker',
    issuer: authority.subject,
    ...validity,
    signingAlgorithm,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(subjects),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  })
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  return {
    authority: authority.toString('pem'),
    cert: certificate.toString('pem'),
    key: x509.PemConverter.encode(key, 'PRIVATE KEY'),
  }
}

const nameConstraints = '2.5.29.30'

/** In DER (RFC 5280, 4.2.1.10): these names, and none of a kind that is not among them. */
function constraintsTo(names: readonly GeneralName[]): Buffer {
  const has = (kind: string): boolean => names.some(({ type }) => type === kind)
  const permitted = names.map(({ type, rawData }) => {
    const name = Buffer.from(rawData)
    // An address comes with a mask: all of its octets count.
    return type === 'ip' ? subtreeOfAddress(name.subarray(2), 255) : der(0x30, name)
  })
  const excluded = [
    ...(has('dns') ? [] : [der(0x30, der(0x82))]),
    ...(has('ip') ? [] : [4, 16].map((length) => subtreeOfAddress(Buffer.alloc(length), 0))),
  ]
  return der(0x30, der(0xa0, ...permitted), ...(excluded.length > 0 ? [der(0xa1, ...excluded)] : []))
}

function subtreeOfAddress(address: Buffer, mask: number): Buffer {
  return der(0x30, der(0x87, address, Buffer.alloc(address.length, mask)))
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const long = length < 256 ? [0x81, length] : [0x82, Math.trunc(length / 256), length % 256]
  const size = length < 128 ? [length] : long
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
