/**
 * Whose tokens they are, where a service knows many clients: a mark at the end of what a token set carries as `auth_url`. Two clients
 * can't share tokens, because a refresh by the other one can end the session.
 */
import { StoreError } from '../errors.ts'

const mark = '#client='

/** The address with the client's mark. */
export function withClient(address: string, clientId: string): string {
  return `${address}${mark}${encodeURIComponent(clientId)}`
}

export function withoutClient(address: string): string {
  return address.split(mark, 1).join('')
}

/** The client's id; `undefined` for an address without a mark. One that nobody here has written is told as it is. */
export function clientIn(address: string): string | undefined {
  if (!address.includes(mark)) return undefined
  const marked = address.slice(withoutClient(address).length + mark.length)
  try {
    return decodeURIComponent(marked)
  } catch {
    return marked
  }
}

/** For tokens of another client: the ids of both. */
export function otherClient(theirs: string, ours: string): StoreError {
  const [owner, program] = [theirs, ours].map((id) => JSON.stringify(id))
  const remedy = 'Give each client a store, or a prefix, of its own. Nothing was sent.'
  const where = { step: 'token-manager', requestSent: false } as const
  return new StoreError(
    'other-client',
    `These tokens belong to the client ${owner}, and this program is ${program}. ${remedy}`,
    where,
  )
}
