/**
 * The owner API beside the broker: a program that calls it here needs no token at all.
 */
import type { IncomingMessage } from 'node:http'
import type { OwnerApiProxy } from '@owner-sso/express'
import { accountFor, accountInHeader, bearerKey } from './caller.ts'
import { type Call, clientWithKey, type BrokerParts } from './call.ts'

export type BrokerProxy = OwnerApiProxy

/** For whom a call is made, once that is known: what the proxy asks. */
export const callers: WeakMap<IncomingMessage, string> = new WeakMap()

/** @throws RejectedCall, ClientsError, StoreError */
export async function answerProxiedCall(call: Call, parts: BrokerParts, proxy: BrokerProxy): Promise<void> {
  const { request, response, door, told } = call
  const bearer = bearerKey(request)
  const client = await clientWithKey(call, parts, bearer && parts.handedOut.keyOf(bearer))
  const account = accountFor(client, 'proxy', accountInHeader(request))
  told.account = account
  callers.set(request, account)
  parts.audit({ event: 'call', by: 'proxy', ...told, address: door.addressOf(request) })
  proxy(request, response)
}
