import { describe } from '@jest/globals'
import { crashesOver } from './crash.ts'
import { fileRow } from './deployment/stores.ts'

describe('file store', () => {
  crashesOver(fileRow)
})
