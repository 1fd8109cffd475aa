export { redisTokenStore, type RedisTokenStoreOptions } from './redis-token-store.ts'
export { checkRedis, type RedisProblem } from './redis-check.ts'
export type { IoRedisClient, NodeRedisClient, RedisClient } from './connection.ts'
export type { IoRedisSubscriber, NodeRedisSubscriber, RedisSubscriber } from './change-hint.ts'
