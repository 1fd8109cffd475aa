/**
 * The fields of the service's interface whose values are no secret, by name: whatever is on no list here is masked, by a recording
 * and by the emulator's log alike. A log stays on its machine and a recording leaves it, so that a log also shows what is the
 * client's own.
 */

export interface PlainFields {
  /** Of a query or a request's body: a value that the interface fixes, or a switch. */
  readonly fixedByClient: readonly string[]
  /** Of an answer: a value that the interface fixes. */
  readonly fixedByService: readonly string[]
  /** Of an answer: sentences for people, and words for programs. */
  readonly sentences: readonly string[]
  /** Words inside the `error` of an answer; secrets anywhere else. */
  readonly wordsInErrors: readonly string[]
  /** Of an answer: short numbers. */
  readonly numbers: readonly string[]
  /** Of a query or a request's body: what tells clients, accounts or logins apart. A recording masks it. */
  readonly ownOfClient: readonly string[]
  /** Of an answer: the same, and what the owner API says of a vehicle. A recording masks it. */
  readonly ownOfService: readonly string[]
}

/** The names, by what the values of such fields are. A field that is on no list is masked. */
export const plainFields: PlainFields = {
  fixedByClient: words(
    'client_id code_challenge_method response_type scope grant_type factor_type charset locale ui_locales',
    '_phase _process cancel remember',
  ),
  fixedByService: words('token_type factorType'),
  sentences: words('error error_description message messages reason title detail status'),
  wordsInErrors: words('code'),
  numbers: words('expires_in status securityLevel codesRemaining attemptsRemaining'),
  ownOfClient: words('code_challenge redirect_uri state login_hint identity factor_id'),
  ownOfService: words(
    'state issuer page id name factorId factorProvider created_at activatedAt createdAt updatedAt',
    'count display_name battery_level range_km command',
  ),
}

function words(...lines: readonly string[]): readonly string[] {
  return lines.join(' ').split(' ')
}

export const maskText = '[masked]'
