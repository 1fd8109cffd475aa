import { describeWithRedis } from '../../support/redis-server.ts'
import { crashesOver } from './crash.ts'
import { redisRow } from './deployment/stores.ts'

describeWithRedis('Redis store', () => {
  crashesOver(redisRow)
})
