/** owner-sso with Redis. */
export const about = { name: 'owner-sso, Redis', packages: ['@owner-sso/token-store-redis'], store: 'redis' }

export async function open({ settings, service }) {
  const { openOurs } = await import('../applications/owner-sso.mjs')
  const { redisTokenStore } = await import('@owner-sso/token-store-redis')
  const { createClient } = await import('redis')
  const connect = () =>
    createClient({ url: settings.url })
      .on('error', () => {})
      .connect()
  const [client, subscriber] = await Promise.all([connect(), connect()])
  return openOurs(redisTokenStore({ client, subscriber }), service)
}
