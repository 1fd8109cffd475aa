import { afterEach, beforeEach, expect, it } from '@jest/globals'
import axios from 'axios'
import { attachBearer, ownerApiProxy, ownerFetch } from '../src/index.ts'
import { listen, type OwnerApi, startOwnerApi } from './servers.ts'
import { account, token } from './tokens.ts'

let ownerApi: OwnerApi
let accepted: unknown[]
/** There is no other token. */
const tokens = {
  getAccessToken: async () => token,
  invalidate: async () => false,
  accepted: (...of: unknown[]) => void accepted.push(of),
}

beforeEach(async () => {
  accepted = []
  ownerApi = await startOwnerApi()
})
afterEach(() => ownerApi.close())

const ways: [string, () => Promise<unknown>][] = [
  ['ownerFetch', () => ownerFetch({ tokens, account, target: ownerApi.url })('/api/1/vehicles')],
  [
    'attachBearer',
    () =>
      attachBearer(axios.create({ baseURL: ownerApi.url, validateStatus: null }), { tokens, account }).get(
        '/api/1/vehicles',
      ),
  ],
  [
    'ownerApiProxy',
    async () => {
      const proxy = ownerApiProxy({ target: ownerApi.url, tokens, account, authorize: true })
      const home = await listen(proxy)
      await (await fetch(`${home.url}/api/1/vehicles`)).text()
      await home.close()
      await proxy.close()
    },
  ],
]

it.each(ways)(
  '%s reports a token that the owner API has accepted, so that it is known for the manager’s pause',
  async (_way, call) => {
    const reported: Record<number, unknown[]> = {}
    for (const status of [200, 204, 206, 302, 304, 400, 401, 403, 404, 412, 429, 500]) {
      accepted = []
      ownerApi.answer((_seen, response) => response.writeHead(status).end())
      await call()
      if (accepted.length > 0) reported[status] = accepted
    }
    const once = [[account, token]]
    expect(reported).toEqual({ 200: once, 204: once, 206: once, 304: once })
  },
)
