/** Whether the owner API takes an access token: asked apart from the client that it was given to. */
import { once } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import type { Emulator } from '@owner-sso/emulator'

export async function isAccepted({ ownerApiUrl, ca }: Emulator, token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` }
  const address = `${ownerApiUrl}/api/1/vehicles`
  const request = ca === undefined ? http.get(address, { headers }) : https.get(address, { headers, ca })
  const [answer]: http.IncomingMessage[] = await once(request, 'response')
  answer?.resume()
  return answer?.statusCode === 200
}
