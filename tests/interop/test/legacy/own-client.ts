/** The client library of this repository, as a client of the table. */
import { createSso } from '@owner-sso/core'
import type { PeerClient } from './peer-client.ts'

export const ownClient: PeerClient = async (
  { authUrl, regionalAuthUrl, ownerApiUrl },
  { identity, credential, passcode },
) => {
  const sso = createSso({ authUrl, regionalAuthUrls: [regionalAuthUrl] })
  const call = (token: string): Promise<Response> =>
    fetch(`${ownerApiUrl}/api/1/vehicles`, { headers: { authorization: `Bearer ${token}` } })
  const tokens = await sso.login({
    identity,
    credential,
    passcode: ([factor]) => ({ factorId: factor?.id ?? '', passcode }),
  })
  await call(tokens.access_token)
  const fresh = await sso.refresh(tokens)
  await call(fresh.access_token)
  return { token: tokens.access_token, fresh: fresh.access_token }
}
