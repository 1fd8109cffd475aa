/**
 * The node that keeps an account for the nodes of the flows: the editor calls it a configuration node.
 */
import { serviceProfile } from '@owner-sso/core'
import { ownerFetch } from '@owner-sso/express'
import {
  type Account,
  type AccountSettings,
  accountSettings,
  secretSettings,
  serviceNameOf,
  transportOf,
} from './account-settings.ts'
import { brokerAccount } from './broker.ts'
import type { FlowNode, NodeRed } from './node-red.ts'
import { storedAccount } from './stored-account.ts'

export interface AccountNode extends FlowNode {
  readonly settings: AccountSettings
  /** @throws TypeError that names a wrong setting, StoreError */
  account(): Account
  /** The path that lists what the account has. @throws TypeError */
  vehicleList(): string
  /** `fetch` on the owner API. @throws the same */
  call(): typeof globalThis.fetch
}

export function registerAccount(RED: NodeRed): void {
  const credentials = Object.fromEntries(secretSettings.map((name) => [name, { type: 'password' as const }]))
  RED.nodes.registerType(
    'owner-sso account',
    function (config) {
      RED.nodes.createNode(this, config)
      const given: Readonly<Record<string, unknown>> = { ...config, ...this.credentials }
      const settings = accountSettings((name) => textOf(given[name]))
      const account = once(() => openAccount(RED, settings))
      const call = once(() => {
        const { tokens, name } = account()
        return ownerFetch({ tokens, account: name, target: settings.apiUrl, ...transportOf(settings) })
      })
      const vehicleList = (): string => serviceProfile(serviceNameOf(settings)).vehicleList
      const own: Omit<AccountNode, keyof FlowNode> = { settings, account, vehicleList, call }
      Object.assign(this, own)
    },
    { credentials },
  )
}

/** @throws TypeError that names a wrong setting, StoreError */
export function openAccount(RED: NodeRed, settings: AccountSettings): Account {
  return settings.source === 'broker' ? brokerAccount(settings) : storedAccount(RED, settings)
}

export function isAccountNode(node: unknown): node is AccountNode {
  return typeof node === 'object' && node !== null && 'account' in node && 'call' in node
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => (made ??= { value: make() }).value
}
