/** The variables that the documents' programs take from their environment. A name that is not here is a mistyped one. */
declare namespace NodeJS {
  interface ProcessEnv {
    OWNER_SSO_AUTH_URL: string
    OWNER_SSO_API_URL: string
    OWNER_SSO_ACCOUNT: string
    OWNER_SSO_CREDENTIAL: string
    OWNER_SSO_ENCRYPTION_KEY: string
    OWNER_SSO_TOTP_SECRET: string
    PENDING_LOGIN_KEY: string
    NEW_KEY: string
    API_KEY: string
    PORT: string
    REDIS_URL: string
    SESSION_SECRET: string
  }
}
