export { memoryTokenStore } from './memory-token-store.ts'
