import { describeWithPostgres, startPostgres } from '../../support/postgres-server.ts'
import { atEnd } from './deployment/deployment.ts'
import { postgresOn } from './deployment/stores.ts'
import { outagesOver } from './outage.ts'

describeWithPostgres('the PostgreSQL server', () => {
  outagesOver({
    async start() {
      const postgres = await startPostgres()
      atEnd(postgres.stop)
      return {
        ...postgres,
        empty: () => postgres.query('TRUNCATE owner_sso_tokens'),
        async successor() {
          const replica = await postgres.replica()
          atEnd(replica.stop)
          await replica.query('SELECT pg_promote(true, 60)')
          return replica
        },
      }
    },
    storeOn: (port) => postgresOn({ url: `postgresql://postgres@127.0.0.1:${port}/postgres` }),
  })
})
