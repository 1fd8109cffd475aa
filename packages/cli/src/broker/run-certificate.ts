/**
 * What stands for the service in one run: a certificate for its hosts, by an authority that can never sign another one.
 */
import { webcrypto } from 'node:crypto'
import { isIP } from 'node:net'

export interface RunCertificate {
  /** PEM of the authority, for the program to trust. */
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
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  })
  const certificate = await x509.X509CertificateGenerator.create({
    subject: 'CN=owner-sso broker',
    issuer: authority.subject,
    ...validity,
    signingAlgorithm,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
      ),
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
