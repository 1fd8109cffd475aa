export { tokenStoreConformance, type TokenStoreConformanceOptions } from './conformance.ts'
export { writeUntilKilled } from './durability.ts'
