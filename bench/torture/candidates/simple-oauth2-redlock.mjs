/** simple-oauth2 with redlock: `using`, whose lock of five seconds extends itself, and the options of its README. */
export const about = {
  name: 'simple-oauth2, redlock',
  packages: ['simple-oauth2', 'redlock', 'ioredis'],
  documentation: 'https://github.com/mike-marcacci/node-redlock#usage',
  store: 'redis',
  worst: 'a process frozen for three minutes',
  because:
    'a stopped process does not extend its lock, so a few seconds later the next one sends the same refresh token. It is extended half a second before its end: on a busy machine other slow answers may end like this as well.',
}

export async function open({ settings, service }) {
  const { openSimpleOauth2 } = await import('../applications/simple-oauth2.mjs')
  const { default: Redlock } = await import('redlock')
  const { Redis } = await import('ioredis')
  const redis = new Redis(settings.url).on('error', () => {})
  const options = { driftFactor: 0.01, retryCount: 10, retryDelay: 200, retryJitter: 200 }
  const redlock = new Redlock([redis], { ...options, automaticExtensionThreshold: 500 })
  const withLock = (work) =>
    redlock.using(['lock:owner'], 5000, async (signal) => {
      const result = await work()
      if (signal.aborted) throw signal.error
      return result
    })
  return openSimpleOauth2({ redis, withLock, ...service })
}
