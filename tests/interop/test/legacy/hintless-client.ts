/**
 * A client that sends no `login_hint`: whoever has an account of another region gives it that region's address. It sends every
 * field that it knows, with null for what was not set, and follows no redirect.
 */
import type { PeerClient } from './peer-client.ts'
import { createPkce, createWire, loginQuery, namesOf } from './wire.ts'

export const hintlessClient: PeerClient = async (emulator, { identity, credential, passcode }) => {
  const { region } = emulator.account(identity)
  const service = `${region === 'home' ? emulator.authUrl : emulator.regionalAuthUrl}/oauth2/v3`
  const wire = createWire()
  const { verifier, challenge } = createPkce()
  const redirect_uri = 'https://auth.example.com/void/callback'

  const login = await wire.get(`${service}/authorize?${loginQuery(challenge, redirect_uri)}`)
  const inputs = [...login.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/gu)]
  const hidden = Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value]))
  const form = { ...hidden, identity, credential }
  let answer = await wire.post(login.address, form)
  if (answer.status === 200 && answer.text.includes('passcode')) {
    const transaction_id = hidden['transaction_id']
    const { data } = await wire.json(`${service}/authorize/mfa/factors?transaction_id=${transaction_id}`)
    await wire.json(`${service}/authorize/mfa/verify`, { transaction_id, factor_id: data?.[0]?.['id'], passcode })
    answer = await wire.post(login.address, form)
  }

  const known = { client_id: 'ownerapi', client_secret: null }
  const code = new URL(answer.location).searchParams.get('code')
  const exchange = { ...known, grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri }
  const tokens = await wire.json(`${service}/token`, exchange)
  const call = async (token = ''): Promise<string[]> =>
    namesOf(
      await wire.json(`${emulator.ownerApiUrl}/api/1/vehicles`, undefined, { authorization: `Bearer ${token}` }),
      'id_s',
    )
  const before = await call(tokens['access_token'])
  const refresh = { ...known, grant_type: 'refresh_token', refresh_token: tokens['refresh_token'] }
  const fresh = await wire.json(`${service}/token`, refresh)
  const after = await call(fresh['access_token'])
  return { token: tokens['access_token'] ?? '', fresh: fresh['access_token'] ?? '', vehicles: [...before, ...after] }
}
