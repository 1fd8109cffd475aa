/**
 * What a failed command means to the person who runs this, as a StoreError. The client's own message is never passed on:
 * it may name an address with a password in it.
 */
import { StoreError, type StoreErrorReason, answeredInTime } from '@owner-sso/token-manager'

/** Milliseconds within which every command has to be answered. By default clients wait for ever for a paused server. */
export const commandDeadline: number = 1500

const replies: Readonly<Record<string, readonly [StoreErrorReason, string]>> = {
  NOAUTH: ['permissions', 'it asks for a password: give it to the client.'],
  WRONGPASS: ['permissions', 'it does not accept the user name and password.'],
  NOPERM: [
    'permissions',
    'this user is not permitted to: allow GET, SET, SCAN, EVAL and PUBLISH on the store’s keys and channels.',
  ],
  OOM: ['write-failed', 'it is out of memory: raise maxmemory, or make room.'],
  MISCONF: ['write-failed', 'it can’t save to its disk: look at its log.'],
  NOREPLICAS: ['write-failed', 'too few of its replicas are connected.'],
  WRONGTYPE: ['corrupt', 'the key holds something else: choose another prefix.'],
  READONLY: ['unavailable', 'this server is a replica: after a failover the client finds the master by itself.'],
  LOADING: ['unavailable', 'it is still loading its data.'],
  MASTERDOWN: ['unavailable', 'it has lost its master.'],
  CLUSTERDOWN: ['unavailable', 'a part of the cluster is down.'],
  TRYAGAIN: ['unavailable', 'a slot of the cluster is moving.'],
  BUSY: ['unavailable', 'somebody’s script blocks it.'],
}

/** What a user may not do is ERR, not NOPERM, where a script does it: in the words of Redis 6 and 7.0, and of 7.2 and later. */
const deniedInScript = /^ERR (?:The user executing the script can't|ACL failure in script)/u

/**
 * Runs one command within the deadline.
 *
 * @throws StoreError; for `unavailable` the command may have been carried out, or may still be
 */
export async function withinDeadline<Reply>(command: () => Promise<Reply>): Promise<Reply> {
  try {
    return await answeredInTime(commandDeadline, command, late)
  } catch (error) {
    throw failure(error)
  }
}

const late = (): StoreError => new StoreError('unavailable', 'Redis did not answer in time.')

function failure(error: unknown): unknown {
  if (error instanceof StoreError || error instanceof TypeError) return error
  const message = typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : ''
  const word = deniedInScript.test(message) ? 'NOPERM' : (/^[A-Z]{3,20}(?=[ .]|$)/u.exec(message)?.[0] ?? '')
  const [reason, meaning] = replies[word] ?? []
  if (reason) return new StoreError(reason, `Redis answered ${word}: ${meaning}`, { cause: error })
  return new StoreError('unavailable', 'Redis can’t be reached, or did not execute the command.', { cause: error })
}
