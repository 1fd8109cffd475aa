export type { EncryptionKey } from '@owner-sso/core'
export { fileTokenStore, type FileTokenStoreOptions } from './file-token-store.ts'
