/**
 * The fields of the service's interface whose values are no secret, by name: whatever is on no list here is masked, by a recording
 * and by the emulator's log alike. A log stays on its machine and a recording leaves it, so that a log also shows what is the
 * client's own.
 */

/** What stands in place of a secret in the log. */
export const maskText = '[masked]'

export const plainFields = {
  /** Of a query or a request's body: a value that the interface fixes, or a switch. */
  fixedByClient: words(
    'client_id code_challenge_method response_type scope grant_type factor_type charset locale ui_locales',
    '_phase _process cancel remember',
  ),
  /** Of an answer: a value that the interface fixes; sentences for people and words for programs; short numbers. */
  fixedByService: words('token_type factorType'),
  sentences: words('error error_description message messages reason title detail status'),
  numbers: words('expires_in status securityLevel codesRemaining attemptsRemaining'),
  /** Words inside the `error` of an answer; secrets anywhere else. */
  wordsInErrors: words('code'),
  /** What tells clients, accounts or logins apart, of a query or a request's body, and of an answer. A recording masks it. */
  ownOfClient: words('code_challenge redirect_uri state login_hint identity factor_id'),
  ownOfService: words(
    'state issuer page id name factorId factorProvider created_at activatedAt createdAt updatedAt',
    'count display_name battery_level range_km command',
  ),
}

export function words(...lines: readonly string[]): readonly string[] {
  return lines.join(' ').split(' ')
}
