/** What a page of documentation takes for granted, for code blocks marked with `<!-- given: … -->`. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { PasscodeSource, Sso, TokenManager, TokenSet, TokenStore } from '@owner-sso/core'
import type { OwnerSsoUser, VerifyDone } from '@owner-sso/passport'
import type { Express } from 'express'

export { ownerApiProxy } from '@owner-sso/express'
export { OwnerSsoStrategy } from '@owner-sso/passport'
export { default as passport } from 'passport'

export declare const app: Express
export declare const server: Server
export declare const sso: Sso
export declare const tokens: TokenManager
export declare const store: TokenStore
export declare function refreshMyWay(refreshToken: string): Promise<TokenSet>
/** The application's own connected client of Redis. */
export declare const client: import('@owner-sso/token-store-redis').RedisClient
/** 32 random bytes. */
export declare const encryptionKey: Uint8Array
export declare const strategy: import('@owner-sso/passport').OwnerSsoStrategy
/** What openid-client and its like bring of a sign-in. */
export declare const tokenSetOfAnyLibrary: { access_token: string; refresh_token?: string; expires_in?: number }
/** An e-mail. */
export declare const account: string
/** Its password. */
export declare const credential: string
export declare const askForPasscode: PasscodeSource
/** The owner API's address. */
export declare const target: string

export declare function accountOfApiKey(req: IncomingMessage): string | undefined
export declare function accountOfSession(req: IncomingMessage): Promise<string>
export declare function mayCall(req: IncomingMessage): boolean

/** An application's own users. */
export declare const users: {
  findOrCreate(account: string): Promise<OwnerSsoUser>
  find(account: string, done: VerifyDone): void
  link(user: OwnerSsoUser | undefined, account: string): Promise<OwnerSsoUser>
}

/** Those of the page's test runner. */
export declare function test(name: string, run: () => Promise<void>): void
export declare function expect(value: unknown): { toBe(other: unknown): void }

/** Somebody else's proxy. */
export declare const webSocketProxy: { upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void }
/** A webhook, as a server received it. */
export declare const request: IncomingMessage
export declare const body: string
/** What it is signed with. */
export declare const secret: string
export declare const clients: import('@owner-sso/broker').BrokerClients
export declare const broker: import('@owner-sso/broker').TokenBroker
export declare const alerts: import('@owner-sso/broker').AccountAlerts
