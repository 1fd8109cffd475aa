/**
 * A legacy client with a locale before its paths, which reads the passcode page's templates and scripts, types a captcha, asks
 * for the code with the transaction alone, and trades its tokens at the owner API, where it refreshes them too.
 */
import type { PeerClient } from './peer-client.ts'
import { createPkce, createWire, firstMatch, loginQuery, type Json, namesOf } from './wire.ts'

export const tradingClient: PeerClient = async ({ authUrl, ownerApiUrl }, { identity, credential, passcode }) => {
  const wire = createWire()
  const { verifier, challenge } = createPkce()
  const redirectUri = 'owner-app://auth/callback'

  const login = await wire.get(`${authUrl}/en_us/oauth2/v3/authorize?${loginQuery(challenge, redirectUri, identity)}`)
  const service = `${new URL(login.address).origin}/en_us`
  const inputs = [...login.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/gu)]
  const hidden = Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value]))
  const captcha = login.text.includes('name="captcha"') && {
    captcha: lettersOf((await wire.get(`${service}/captcha`)).text),
  }
  let answer = await wire.post(login.address, { ...hidden, identity, credential, ...captcha })

  if (answer.status === 200 && answer.text.includes('/mfa/verify')) {
    const template = firstMatch(answer.text, /<script type="text\/html"[^>]*>([\s\S]*?)<\/script>/u)
    const csrf = firstMatch(template, /name="_csrf" value="([^"]*)"/u)
    const transaction_id = firstMatch(answer.text, /transaction_id\s*=\s*"([^"]*)"/u)
    const mfa = `${service}/oauth2/v3/authorize/mfa`
    const { data } = await wire.json(`${mfa}/factors?transaction_id=${transaction_id}`)
    await wire.json(`${mfa}/verify`, { transaction_id, factor_id: data?.[0]?.['id'], passcode, _csrf: csrf })
    answer = await wire.get(`${service}/oauth2/v3/authorize?transaction_id=${transaction_id}`)
  }

  const exchanged = await wire.post(`${service}/oauth2/v3/token`, {
    grant_type: 'authorization_code',
    client_id: 'ownerapi',
    code: new URL(answer.location).searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: redirectUri,
  })
  const { access_token } = JSON.parse(exchanged.text)
  const trade = `${ownerApiUrl}/oauth/token`
  const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  const traded = await wire.json(trade, { grant_type }, { authorization: `Bearer ${access_token}` })
  const before = await vehicles(traded)
  const fresh = await wire.json(trade, { grant_type: 'refresh_token', refresh_token: traded['refresh_token'] })
  const after = await vehicles(fresh)
  return { token: traded['access_token'] ?? '', fresh: fresh['access_token'] ?? '', vehicles: [...before, ...after] }

  /** Never with a token that its own reckoning calls expired. */
  async function vehicles(tokens: Json): Promise<string[]> {
    const expiresAt = Number(tokens['created_at']) + Number(tokens['expires_in'])
    if (!(expiresAt > Date.now() / 1000)) throw new Error('The traded token has no lifetime')
    const list = await wire.json(`${ownerApiUrl}/api/1/vehicles`, undefined, {
      authorization: `Bearer ${tokens['access_token'] ?? ''}`,
    })
    return namesOf(list, 'id')
  }
}

function lettersOf(picture: string): string {
  return [...picture.matchAll(/<text[^>]*>(\w)<\/text>/gu)].map(([, letter]) => letter).join('')
}
