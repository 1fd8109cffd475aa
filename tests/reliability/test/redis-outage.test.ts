import { describeWithRedis, startRedis } from '../../support/redis-server.ts'
import { atEnd } from './deployment/deployment.ts'
import { until } from './deployment/figures.ts'
import { redisOn } from './deployment/stores.ts'
import { outagesOver } from './outage.ts'

describeWithRedis('the Redis server', () => {
  outagesOver({
    async start() {
      const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'everysec')
      atEnd(redis.stop)
      return {
        ...redis,
        empty: () => redis.command('FLUSHALL'),
        async successor() {
          const replica = await startRedis()
          atEnd(replica.stop)
          await replica.command('REPLICAOF', '127.0.0.1', String(redis.port))
          await until(async () => Number(await replica.command('DBSIZE')) > 0)
          await replica.command('REPLICAOF', 'NO', 'ONE')
          return replica
        },
      }
    },
    storeOn: (port) => redisOn({ url: `redis://127.0.0.1:${port}` }),
  })
})
