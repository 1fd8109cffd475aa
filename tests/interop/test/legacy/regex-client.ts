/**
 * A legacy client that looks for each input by its name and takes the first match of the page. It verifies with the login
 * page's `_csrf`, posts the transaction id alone, and sends what its query parser made of the code: a list.
 */
import type { Ending, PeerClient } from './peer-client.ts'
import { createPkce, createWire, firstMatch, loginQuery, namesOf } from './wire.ts'

export const regexClient: PeerClient = async ({ authUrl, ownerApiUrl }, { identity, credential, passcode }) => {
  const wire = createWire()
  const { verifier, challenge } = createPkce()
  const redirectUri = 'https://auth.example.com/void/callback'

  const login = await wire.get(`${authUrl}/oauth2/v3/authorize?${loginQuery(challenge, redirectUri, identity)}`)
  const names = ['_csrf', '_phase', '_process', 'transaction_id', 'cancel']
  const hidden = Object.fromEntries(names.map((name) => [name, inputOf(login.text, name)]))
  const { _csrf, transaction_id = '' } = hidden
  let answer = await wire.post(login.address, { ...hidden, identity, credential })

  if (answer.status === 200 && answer.text.includes('passcode')) {
    const { origin } = new URL(login.address)
    const mfa = `${origin}/oauth2/v3/authorize/mfa`
    const { data } = await wire.json(`${mfa}/factors?transaction_id=${transaction_id}`)
    await wire.json(`${mfa}/verify`, { transaction_id, factor_id: data?.[0]?.['id'], passcode, _csrf })
    answer = await wire.post(login.address, { transaction_id })
  }

  const { searchParams } = new URL(answer.location)
  const endpoint = `${searchParams.get('issuer')}/token`
  const tokens = await wire.json(endpoint, {
    grant_type: 'authorization_code',
    client_id: 'ownerapi',
    code: searchParams.getAll('code'),
    code_verifier: verifier,
    redirect_uri: redirectUri,
  })
  const call = async (token = ''): Promise<string[]> =>
    namesOf(await wire.json(`${ownerApiUrl}/api/1/vehicles`, undefined, { authorization: `Bearer ${token}` }), 'id')
  const before = await call(tokens['access_token'])
  const { refresh_token } = tokens
  const fresh = await wire.json(endpoint, { grant_type: 'refresh_token', client_id: 'ownerapi', refresh_token })
  const after = await call(fresh['access_token'])
  const ending: Ending = {
    token: tokens['access_token'] ?? '',
    fresh: fresh['access_token'] ?? '',
    vehicles: [...before, ...after],
  }
  return ending
}

function inputOf(page: string, name: string): string {
  return firstMatch(page, new RegExp(`<input type="hidden" name="${name}" value="([^"]*)" />`, 'u'))
}
