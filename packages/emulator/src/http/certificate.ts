/**
 * A certificate authority and a certificate for loopback, made on the spot.
 */

export interface Certificate {
  /** PEM of the authority, for clients to trust. */
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256' }

/** Of the names of loopback. Both are good for a year. */
export async function createCertificate(): Promise<Certificate> {
  // Loaded only for TLS: it is the slowest import of all.
  const x509 = await import('@peculiar/x509')
  x509.cryptoProvider.set(crypto)
  const [authorityKeys, keys] = [await newKeys(), await newKeys()]
  const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' }
  // All that RFC 5280 wants to see: Python looks closely from 3.13 on.
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=owner-sso emulator CA',
    signingAlgorithm,
    keys: authorityKeys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  })
  const server = await x509.X509CertificateGenerator.create({
    subject: 'CN=localhost',
    issuer: authority.subject,
    signingAlgorithm,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  })
  const key = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return {
    // As a file that others may be appended to.
    ca: `${authority.toString('pem')}\n`,
    cert: server.toString('pem'),
    key: x509.PemConverter.encode(key, 'PRIVATE KEY'),
  }
}

function newKeys() {
  return crypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify'])
}
