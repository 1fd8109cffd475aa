/** What legacy clients do beside the interface document: `strictness` settles whether it is taken. docs/compatibility.md lists it all. */
import { encodeText } from './html.ts'

/** The interface document to the letter, or legacy clients as well. */
export type Strictness = 'document' | 'lenient'

/** Which derivations of the code challenge are accepted. */
export type CodeChallengeEncoding = 'either' | 'hex-digest' | 'raw-digest'

/** The settings that this is about. */
interface StrictnessSettings {
  readonly strictness: Strictness
  /** Undefined: as `strictness` has it. */
  readonly codeChallengeEncoding?: CodeChallengeEncoding | undefined
}

/** Interface document, "Code verifier": 86 alphanumeric characters. */
const DOCUMENT_VERIFIER = /^[A-Za-z0-9]{86}$/u
/** RFC 7636 section 4.1. */
const ANY_VERIFIER = /^[\w.~-]{43,128}$/u

export function isLenient({ strictness }: StrictnessSettings): boolean {
  return strictness === 'lenient'
}

/** Which derivations of the code challenge are taken: the option's, else the document's own, else both. */
export function acceptedEncoding(settings: StrictnessSettings): CodeChallengeEncoding {
  return settings.codeChallengeEncoding ?? (isLenient(settings) ? 'either' : 'hex-digest')
}

export function isCodeVerifier(settings: StrictnessSettings, verifier: string): boolean {
  return (isLenient(settings) ? ANY_VERIFIER : DOCUMENT_VERIFIER).test(verifier)
}

/** Whether a hidden input came back with its value; legacy clients post it as the page's source has it, entities and all. */
export function isPostedBack(
  settings: StrictnessSettings,
  posted: string | null | undefined,
  value: string | undefined,
): boolean {
  return posted === value || (isLenient(settings) && value !== undefined && posted === encodeText(value))
}
