/**
 * Recognises the web application firewall's pages, wherever they appear (interface document, "Errors": a challenge page
 * that requires running JavaScript; recordings: "Access Denied" with a reference number, or a page that only runs a script).
 */

/** The parts of a page that tell a challenge. */
export interface AnsweredPage {
  readonly title: string
  readonly text: string
  readonly scripts: readonly string[]
  readonly forms: readonly { readonly inputs: readonly PageInput[] }[]
  readonly looseInputs: readonly PageInput[]
}

interface PageInput {
  readonly name: string
  readonly type: string
}

const challengeTitle =
  /access denied|attention required|just a moment|request (?:blocked|rejected|unsuccessful)|security (?:check|challenge|verification)|are you (?:a )?(?:human|robot)|human verification|bot (?:check|detect|manage)|pardon our interruption|^challenge\b/iu

const challengeText =
  /\breference\s*#\s*[\da-f]+\.|incident id\s*[:#]|\bray id\b|enable javascript|requires javascript|checking your browser|verif(?:y|ying) (?:that )?you are (?:a )?human|unusual traffic|automated (?:requests|queries|traffic)|you don.t have permission to access/iu

/** A page that only runs a script may say "One moment…"; more than that is a message to a person. */
const longestBareText = 60

/**
 * Whether a response is the firewall's. 429 always is; a page of the service's own that has a field to fill in never is.
 *
 * @param page - the response's page, where it is one and within limits
 */
export function isFirewallChallenge(status: number, page: AnsweredPage | 'beyond limits' | undefined): boolean {
  if (status === 429) return true
  if (page === undefined || page === 'beyond limits' || hasServiceField(page)) return false
  return challengeTitle.test(page.title) || challengeText.test(page.text) || onlyRunsScripts(page)
}

function hasServiceField({ forms, looseInputs }: AnsweredPage): boolean {
  return [...forms.flatMap((form) => form.inputs), ...looseInputs].some((input) =>
    ['identity', 'credential', 'passcode', 'backup_code', 'captcha'].includes(input.name),
  )
}

function onlyRunsScripts({ title, text, scripts, forms }: AnsweredPage): boolean {
  const hasFieldToFillIn = forms.some((form) => form.inputs.some((input) => input.type !== 'hidden'))
  return title === '' && scripts.length > 0 && !hasFieldToFillIn && text.length <= longestBareText
}
