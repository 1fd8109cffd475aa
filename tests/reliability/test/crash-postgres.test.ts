import { describeWithPostgres } from '../../support/postgres-server.ts'
import { crashesOver } from './crash.ts'
import { postgresRow } from './deployment/stores.ts'

describeWithPostgres('PostgreSQL store', () => {
  crashesOver(postgresRow)
})
