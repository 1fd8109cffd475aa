/**
 * Node-RED's API, as far as it is used here. It brings no types of its own.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** What Node-RED hands to the function that registers nodes. */
export interface NodeRed {
  readonly nodes: {
    createNode(node: object, config: object): void
    // `this` is the new node.
    registerType(
      type: string,
      constructor: (this: FlowNode, config: Config) => void,
      options?: { readonly credentials: Readonly<Record<string, { readonly type: 'text' | 'password' }>> },
    ): void
    getNode(id: string): unknown
    /** All that is deployed, as it was typed. */
    eachNode(look: (config: Config) => void): void
  }
  readonly settings: {
    readonly userDir?: string
    readonly httpAdminRoot?: string | false
    get(name: string): unknown
  }
  readonly httpAdmin: {
    post(path: string, ...handlers: ((...args: AdminExchange) => unknown)[]): void
  }
  readonly auth: { needsPermission(permission: string): (...args: AdminExchange) => void }
}

/** One call of the editor. Its body was JSON, or a form. With `adminAuth` it has a user, who has a name unless anonymous. */
export type AdminExchange = [
  request: IncomingMessage & { readonly body?: unknown; readonly user?: { readonly username?: string } },
  response: ServerResponse,
  next: () => void,
]

/** A node's properties in the flow file. */
export type Config = Readonly<Record<string, unknown>>

export interface FlowNode {
  readonly id: string
  /** Of a node type with credentials. Variables of the environment are put in already. */
  readonly credentials?: Readonly<Record<string, string>>
  on(event: 'input', listener: (message: Message, send: Send, done: Done) => void): void
  /** Node-RED waits for `done` before it starts the flows again, or ends: 15 seconds by default. */
  on(event: 'close', listener: (done: () => void) => void): void
  status(status: NodeStatus): void
}

export type Message = Record<string, unknown>
export type Send = (message: Message) => void
/** With an error: it goes to `catch` nodes, or into the log where there are none. */
export type Done = (error?: unknown) => void

/** What stands under a node. */
export interface NodeStatus {
  readonly fill: 'green' | 'yellow' | 'red' | 'grey'
  readonly shape: 'dot' | 'ring'
  readonly text: string
}
