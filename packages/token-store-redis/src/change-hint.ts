/**
 * `watch`: the swap script publishes a hint, and a second connection of the caller's own hears it. Hints get lost while that
 * connection is down: polling is left.
 */
/** A connection of node-redis that is only subscribed with. */
export interface NodeRedisSubscriber {
  subscribe(channel: string, listener: (message: unknown, channel: unknown) => void): Promise<unknown>
  unsubscribe(channel: string, listener: (message: unknown, channel: unknown) => void): Promise<unknown>
}

/** A connection of ioredis that is only subscribed with. */
export interface IoRedisSubscriber {
  subscribe(channel: string): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
  defineCommand(name: string, definition: { lua: string }): void
}

/** A connection of either library for nothing but subscriptions. */
export type RedisSubscriber = NodeRedisSubscriber | IoRedisSubscriber

/** Starts to listen on a channel; returns what ends it. */
export type Listen = (channel: string, onChange: () => void) => () => void

/** One subscription a channel, whoever listens. */
export function listenWith(subscriber: RedisSubscriber): Listen {
  const listeners = new Map<string, Set<() => void>>()
  const heard = (channel: unknown): void => listeners.get(String(channel))?.forEach((onChange) => onChange())
  const heardByNodeRedis = (_message: unknown, channel: unknown): void => heard(channel)
  const isIoRedis = 'defineCommand' in subscriber
  if (isIoRedis) subscriber.on('message', heard)

  const start = (channel: string): Promise<unknown> =>
    isIoRedis ? subscriber.subscribe(channel) : subscriber.subscribe(channel, heardByNodeRedis)
  const stop = (channel: string): Promise<unknown> =>
    isIoRedis ? subscriber.unsubscribe(channel) : subscriber.unsubscribe(channel, heardByNodeRedis)

  return (channel, onChange) => {
    const mine = (): void => onChange()
    const others = listeners.get(channel) ?? new Set()
    if (others.size === 0) start(channel).catch(() => undefined)
    listeners.set(channel, others.add(mine))
    return () => {
      if (!others.delete(mine) || others.size > 0) return
      listeners.delete(channel)
      stop(channel).catch(() => undefined)
    }
  }
}
