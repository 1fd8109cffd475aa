/**
 * Each pair of e-mail and password is checked by the service once. A pair that it rejected is not posted again for a day: a
 * repeat can lock the account. While a pair is being posted, a second login with it (a double click on the button) waits for the first.
 */
import { SsoTimeoutError } from '@owner-sso/token-manager'
import { unlessAborted } from '@owner-sso/token-manager/support'
import { InvalidCredentialsError } from '../errors.ts'
import type { Credentials } from '../steps/form-submission.ts'
import { createKeyedHash, createSecretMemory } from './secret-memory.ts'

export interface CredentialPosts {
  /** @throws InvalidCredentialsError, without a request, for a pair that the service has rejected before */
  throwIfRejected(credentials: Credentials): void
  /**
   * Posts a pair, after an earlier post of the same pair has ended.
   *
   * @throws InvalidCredentialsError, without a request, where the service rejects the pair meanwhile; SsoTimeoutError where
   *   `signal` ends the waiting; what `post` throws
   */
  inTurn<T>(credentials: Credentials, signal: AbortSignal | undefined, post: () => Promise<T>): Promise<T>
}

const where = { step: 'form-submission', requestSent: false } as const
const aDay = 24 * 60 * 60

export function createCredentialPosts(): CredentialPosts {
  const rejected = createSecretMemory(10_000, aDay)
  const hash = createKeyedHash()
  /** By the pair's hash: what its post, which is under way, ends with: `'accepted'`, or its error. */
  const posting = new Map<string, Promise<unknown>>()

  function throwIfRejected({ identity, credential }: Credentials): void {
    if (rejected.has(identity, credential)) throw new InvalidCredentialsError('rejected', where)
  }

  async function posted<T>(credentials: Credentials, post: () => Promise<T>): Promise<T> {
    try {
      return await post()
    } catch (error) {
      if (error instanceof InvalidCredentialsError && error.reason === 'rejected')
        rejected.remember(credentials.identity, credentials.credential)
      throw error
    }
  }

  return {
    throwIfRejected,
    async inTurn(credentials, signal, post) {
      const name = hash([credentials.identity, credentials.credential])
      for (let earlier = posting.get(name); earlier; earlier = posting.get(name)) {
        const end = await unlessAborted(earlier, signal, abortedWhileWaiting)
        if (end instanceof InvalidCredentialsError) throw new InvalidCredentialsError(end.reason, where)
        // A pair that is right may be used by any number of logins at once.
        if (end === 'accepted') return posted(credentials, post)
      }
      const own = posted(credentials, post)
      posting.set(
        name,
        own.then(
          () => 'accepted',
          (error: unknown) => error,
        ),
      )
      try {
        return await own
      } finally {
        posting.delete(name)
      }
    },
  }
}

const abortedWhileWaiting = (): SsoTimeoutError =>
  new SsoTimeoutError('The login was aborted while the same e-mail and password were on their way.', where)
