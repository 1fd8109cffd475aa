/**
 * The warning of a store without an encryption key, once in a process.
 */

let warned = false

export function warnOfPlainText(): void {
  if (warned) return
  warned = true
  const message =
    'Token sets are stored unencrypted, in files that this user and root can read. Give fileTokenStore an encryptionKey to seal them.'
  process.emitWarning(message, { type: 'SecurityWarning', code: 'OWNER_SSO_UNSEALED' })
}
