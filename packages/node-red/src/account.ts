/**
 * An account, as the two nodes use it, wherever its tokens are: in a store of ours, or at a broker.
 */
import type { TokenManager } from '@owner-sso/core'
import { ownerFetch } from '@owner-sso/express'
import { brokerAccount } from './broker.ts'
import type { FlowNode, NodeRed, NodeStatus } from './node-red.ts'
import { storedAccount } from './stored-account.ts'

/** The settings of the account's node. All are text; those of another `source` don't count. */
export interface AccountSettings {
  readonly id: string
  /** `own`: tokens of this Node-RED; `folder`: of a folder that other programs use too; `broker`: a broker keeps them. */
  readonly source: string
  /** The e-mail that the account is signed in with. At a broker it may be empty: the only account of the key. */
  readonly account: string
  readonly authUrl: string
  readonly apiUrl: string
  readonly transport: string
  readonly folder: string
  readonly brokerUrl: string
  /** Of a shared folder: 32 bytes in base64. Without it the credential secret seals. Never in the flow file. */
  readonly encryptionKey: string
  /** The secret of an invitation. Never in the flow file. */
  readonly brokerKey: string
}

export const secretSettings = ['encryptionKey', 'brokerKey'] as const

export interface Account {
  /** The name its tokens have. */
  readonly name: string
  readonly tokens: Pick<TokenManager, 'getAccessToken' | 'invalidate'>
  /** @throws what says why it can't be told */
  status(): Promise<NodeStatus>
  /** Calls `listener` when the status may be another. Returns an unsubscribe function. */
  onChange(listener: () => void): () => void
  /** Resolves once nothing is half-way. */
  settled(): Promise<void>
  /** Where a person signs in: an address, or a page of this editor. */
  readonly signInUrl: string | undefined
}

/** @throws TypeError that names the setting, StoreError */
export function openAccount(RED: NodeRed, settings: AccountSettings): Account {
  return settings.source === 'broker' ? brokerAccount(settings) : storedAccount(RED, settings)
}

/** The node that the editor calls a configuration node. */
export interface AccountNode extends FlowNode {
  /** @throws what was wrong with its settings */
  account(): Account
  /** `fetch` on the owner API. @throws the same */
  call(): typeof globalThis.fetch
}

export function registerAccount(RED: NodeRed): void {
  const secrets = Object.fromEntries(secretSettings.map((name) => [name, { type: 'password' as const }]))
  RED.nodes.registerType<AccountSettings>(
    'owner-sso account',
    function (config) {
      RED.nodes.createNode(this, config)
      const settings = { ...config, encryptionKey: '', brokerKey: '', ...this.credentials }
      const account = once(() => openAccount(RED, settings))
      const call = once(() => {
        const { tokens, name } = account()
        return ownerFetch({ tokens, account: name, target: settings.apiUrl, ...transportOf(settings) })
      })
      Object.assign(this, { account, call } satisfies Pick<AccountNode, 'account' | 'call'>)
    },
    { credentials: secrets },
  )
}

export function isAccountNode(node: unknown): node is AccountNode {
  return typeof node === 'object' && node !== null && 'account' in node && 'call' in node
}

/** @returns options of `createSso` and `ownerFetch` */
export function transportOf({ transport }: AccountSettings): { readonly transport?: 'modern' } {
  return transport === 'modern' ? { transport } : {}
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => (made ??= { value: make() }).value
}
