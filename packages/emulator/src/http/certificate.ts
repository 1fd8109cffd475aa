/**
 * A certificate authority and a certificate for loopback, made on the spot.
 */

export interface Certificate {
  /** PEM of the authority, for clients to trust. */
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** Elliptic curve keys: made in milliseconds. */
const keyOptions = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const

/** `host` is certified in addition to the names of loopback. */
export async function createCertificate(host: string): Promise<Certificate> {
  // Loaded only for TLS: it is the slowest import of all.
  const { generate } = await import('selfsigned')
  const authority = await generate([{ name: 'commonName', value: 'owner-sso emulator CA' }], {
    ...keyOptions,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  })
  const server = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...keyOptions,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: alternativeNames(host) },
    ],
  })
  return { ca: authority.cert, cert: server.cert, key: server.private }
}

function alternativeNames(host: string): ({ type: 2; value: string } | { type: 7; ip: string })[] {
  const names = new Set(['localhost', '127.0.0.1', '::1', host])
  return [...names].map((name) => (isAddress(name) ? { type: 7, ip: name } : { type: 2, value: name }))
}

function isAddress(name: string): boolean {
  return name.includes(':') || /^[\d.]+$/u.test(name)
}
