/** The variables that the documents' programs take from their environment. A name that is not here is a mistyped one. */
declare namespace NodeJS {
  interface ProcessEnv {
    OWNER_SSO_AUTH_URL: string
    OWNER_SSO_API_URL: string
    OWNER_SSO_ACCOUNT: string
    OWNER_SSO_CREDENTIAL: string
    OWNER_SSO_ENCRYPTION_KEY: string
    OWNER_SSO_TOTP_SECRET: string
    ISSUER: string
    CLIENT_ID: string
    CLIENT_SECRET: string
    BASE_URL: string
    API_URL: string
    TOKEN_KEY: string
    PENDING_LOGIN_KEY: string
    NEW_KEY: string
    API_KEY: string
    PORT: string
    REDIS_URL: string
    DATABASE_URL: string
    SESSION_SECRET: string
  }
}

/** What the page on desktop applications uses of Electron, which is too large to be installed for it. */
declare module 'electron' {
  interface NavigationEvent {
    readonly url: string
    preventDefault(): void
  }
  export const app: { getPath(name: 'userData'): string }
  export class BrowserWindow {
    constructor(options: { width: number; height: number; webPreferences: { partition: string } })
    readonly webContents: {
      on(event: 'will-navigate' | 'will-redirect', listener: (event: NavigationEvent) => void): void
      setWindowOpenHandler(handler: (details: { readonly url: string }) => { action: 'allow' | 'deny' }): void
    }
    on(event: 'closed', listener: () => void): void
    loadURL(url: string): Promise<void>
    close(): void
  }
}

/** Which the oldest Node has not, and so its types neither. */
declare module 'node:sqlite' {
  export class DatabaseSync {
    constructor(path: string)
    exec(text: string): void
    prepare(text: string): { all(values: Record<string, string | number | null>): unknown[] }
    close(): void
  }
}
