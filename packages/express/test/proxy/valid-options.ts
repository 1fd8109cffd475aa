/** The least that a proxy is given. */
import type { OwnerApiProxyOptions } from '../../src/index.ts'
import { account, tokensOf } from '../tokens.ts'

export const valid = async (): Promise<OwnerApiProxyOptions> => ({
  target: 'https://owner-api.example.com',
  tokens: await tokensOf(),
  account,
  authorize: true,
})
