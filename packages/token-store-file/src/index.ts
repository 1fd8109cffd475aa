export type { EncryptionKey } from './encryption.ts'
export { fileTokenStore, type FileTokenStoreOptions } from './file-token-store.ts'
