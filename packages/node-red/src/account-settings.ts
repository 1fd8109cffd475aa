/**
 * An account: what stands in its node, in the flow file or in its dialog; and what the nodes of a flow use of it.
 */
import {
  serviceFromText,
  type ServiceName,
  type SsoOptions,
  type TokenManager,
  transportFromText,
} from '@owner-sso/core'
import type { NodeStatus } from './node-red.ts'

export interface AccountSettings {
  /** `own`: tokens of this Node-RED; `folder`: of a folder that other programs use too; `broker`: a broker keeps them. */
  readonly source: string
  /** The e-mail that the account is signed in with. At a broker it may be empty: the only account of the key. */
  readonly account: string
  readonly authUrl: string
  /** `document`, `current` or `registered`; empty: the first. */
  readonly service: string
  readonly apiUrl: string
  /** A name, or empty: the service's own. */
  readonly transport: string
  readonly folder: string
  readonly brokerUrl: string
  /** Of a shared folder: 32 bytes in base64. Without it the credential secret seals. */
  readonly encryptionKey: string
  /** The secret of an invitation. */
  readonly brokerKey: string
}

/** Wherever its tokens are: in a store of ours, or at a broker. */
export interface Account {
  /** The name its tokens have. */
  readonly name: string
  readonly tokens: Pick<TokenManager, 'getAccessToken' | 'invalidate'> & Partial<Pick<TokenManager, 'accepted'>>
  /** @throws what says why it can't be told */
  status(): Promise<NodeStatus>
  /** Calls `listener` when the status may be another. Returns an unsubscribe function. */
  onChange(listener: () => void): () => void
  /** Resolves once nothing is half-way. It has no limit of its own: Node-RED's is the longest that there can be. */
  settled(): Promise<void>
  /** Where a person signs in, if that is not in this editor. */
  readonly signInUrl: string | undefined
}

/** They are in no flow file and no export: Node-RED keeps them sealed, as credentials. */
export const secretSettings = ['encryptionKey', 'brokerKey'] as const

/** @param typed - a setting, as it was typed; those of another `source` don't count */
export function accountSettings(typed: (name: keyof AccountSettings) => string): AccountSettings {
  const textOf: typeof typed = (name) => typed(name).trim()
  return {
    source: textOf('source'),
    account: textOf('account'),
    authUrl: textOf('authUrl'),
    service: textOf('service'),
    apiUrl: textOf('apiUrl'),
    transport: textOf('transport'),
    folder: textOf('folder'),
    brokerUrl: textOf('brokerUrl'),
    encryptionKey: textOf('encryptionKey'),
    brokerKey: textOf('brokerKey'),
  }
}

/** @returns an option of `createSso` and `ownerFetch` @throws TypeError */
export function transportOf({ transport }: AccountSettings): Pick<SsoOptions, 'transport'> {
  return transport === '' ? {} : { transport: transportFromText(transport, 'Transport') }
}

/** @throws TypeError */
export function serviceNameOf({ service }: AccountSettings): ServiceName {
  return service === '' ? 'document' : serviceFromText(service, 'Service')
}
