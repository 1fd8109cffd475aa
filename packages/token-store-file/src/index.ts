export { fileTokenStore, type FileTokenStoreOptions } from './file-token-store.ts'
