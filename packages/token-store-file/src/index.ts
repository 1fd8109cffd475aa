export type { EncryptionKey } from '@owner-sso/token-manager'
export { fileTokenStore, type FileTokenStoreOptions } from './file-token-store.ts'
