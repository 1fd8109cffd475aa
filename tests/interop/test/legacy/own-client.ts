/** The client library of this repository, as a client of the table. */
import { createSso } from '@owner-sso/core'
import type { PeerClient } from './peer-client.ts'
import { namesOf } from './wire.ts'

export const ownClient: PeerClient = async (
  { authUrl, regionalAuthUrl, ownerApiUrl },
  { identity, credential, passcode },
) => {
  const sso = createSso({ authUrl, regionalAuthUrls: [regionalAuthUrl] })
  const call = async (token: string): Promise<string[]> => {
    const headers = { authorization: `Bearer ${token}` }
    return namesOf(await (await fetch(`${ownerApiUrl}/api/1/vehicles`, { headers })).json(), 'id_s')
  }
  const tokens = await sso.login({
    identity,
    credential,
    passcode: ([factor]) => ({ factorId: factor?.id ?? '', passcode }),
  })
  const before = await call(tokens.access_token)
  const fresh = await sso.refresh(tokens)
  const after = await call(fresh.access_token)
  return { token: tokens.access_token, fresh: fresh.access_token, vehicles: [...before, ...after] }
}
