/**
 * What the service makes of a pair of e-mail and password is asked once: a pair that it rejected is posted no second time, since
 * a repeat can lock the account; and while a pair is under way, as at the second click on a button, the same one waits for its end.
 */
import { SsoTimeoutError } from '@owner-sso/token-manager'
import { unlessAborted } from '@owner-sso/token-manager/support'
import { InvalidCredentialsError } from '../errors.ts'
import { createKeyedHash, createSecretMemory } from './secret-memory.ts'
import type { Credentials } from './sso.ts'

export interface CredentialPosts {
  /** @throws InvalidCredentialsError, without a request, for a pair that the service has rejected before */
  refuseRejected(credentials: Credentials): void
  /**
   * Posts a pair in its turn.
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
  /** Whether each is accepted, by the pair's hash. */
  const underWay = new Map<string, Promise<boolean>>()

  function refuseRejected({ identity, credential }: Credentials): void {
    if (rejected.has(identity, credential)) throw new InvalidCredentialsError(where)
  }

  async function begun<T>(credentials: Credentials, post: () => Promise<T>): Promise<T> {
    try {
      return await post()
    } catch (error) {
      if (error instanceof InvalidCredentialsError) rejected.remember(credentials.identity, credentials.credential)
      throw error
    }
  }

  return {
    refuseRejected,
    async inTurn(credentials, signal, post) {
      const name = hash([credentials.identity, credentials.credential])
      for (let before = underWay.get(name); before; before = underWay.get(name)) {
        const accepted = await unlessAborted(before, signal, tooLong)
        refuseRejected(credentials)
        // A pair that is right may be used by any number at once.
        if (accepted) return begun(credentials, post)
      }
      const own = begun(credentials, post)
      underWay.set(
        name,
        own.then(
          () => true,
          () => false,
        ),
      )
      try {
        return await own
      } finally {
        underWay.delete(name)
      }
    },
  }
}

const tooLong = (): SsoTimeoutError =>
  new SsoTimeoutError('The login was aborted while the same e-mail and password were on their way.', where)
