/**
 * A client that looks up the account's region with a request of its own and keeps that session's cookie. The person signs in
 * in a browser, under another session; the code is redeemed with the first cookie. All its requests bear a browser's name.
 * The second factor is looked for as "Device #1", and `products` is all that it asks the owner API for.
 */
import type { PeerClient } from './peer-client.ts'
import { createPkce, createWire, firstMatch, loginQuery, namesOf } from './wire.ts'

const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Safari/537.36'

export const regionClient: PeerClient = async ({ authUrl, ownerApiUrl }, { identity, credential, passcode }) => {
  const [wire, browser] = [createWire({ 'user-agent': userAgent }), createWire({ 'user-agent': userAgent })]
  const { verifier, challenge } = createPkce()
  const redirectUri = `${authUrl}/void/callback`
  const query = loginQuery(challenge, redirectUri, identity)
  const { origin } = new URL((await wire.get(`${authUrl}/oauth2/v3/authorize?${query}`)).address)

  const login = await browser.get(`${origin}/oauth2/v3/authorize?${query}`)
  const inputs = [...login.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/gu)]
  const hidden = Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value]))
  let answer = await browser.post(login.address, { ...hidden, identity, credential })
  if (answer.status === 200 && answer.text.includes('passcode')) {
    const transaction_id = hidden['transaction_id'] ?? ''
    const mfa = `${origin}/oauth2/v3/authorize/mfa`
    const { data } = await browser.json(`${mfa}/factors?transaction_id=${transaction_id}`)
    const factor_id = data?.find((factor) => factor['name'] === 'Device #1')?.['id']
    const csrf = firstMatch(answer.text, /name="_csrf" value="([^"]*)"/u)
    await browser.json(`${mfa}/verify`, { transaction_id, factor_id, passcode, _csrf: csrf })
    answer = await browser.post(login.address, { transaction_id })
  }

  const endpoint = `${origin}/oauth2/v3/token`
  const tokens = await wire.json(endpoint, {
    grant_type: 'authorization_code',
    client_id: 'ownerapi',
    code: new URL(answer.location).searchParams.get('code'),
    code_verifier: verifier,
    redirect_uri: redirectUri,
  })
  const call = async (token = ''): Promise<string[]> =>
    namesOf(
      await wire.json(`${ownerApiUrl}/api/1/products`, undefined, { authorization: `Bearer ${token}` }),
      'vehicle_id',
    )
  const before = await call(tokens['access_token'])
  const { refresh_token } = tokens
  const fresh = await wire.json(endpoint, { grant_type: 'refresh_token', client_id: 'ownerapi', refresh_token })
  const after = await call(fresh['access_token'])
  return { token: tokens['access_token'] ?? '', fresh: fresh['access_token'] ?? '', vehicles: [...before, ...after] }
}
