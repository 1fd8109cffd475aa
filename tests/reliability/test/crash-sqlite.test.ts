import { describe } from '@jest/globals'
import { crashesOver } from './crash.ts'
import { sqliteRow } from './deployment/stores.ts'

describe('SQLite store', () => {
  crashesOver(sqliteRow)
})
