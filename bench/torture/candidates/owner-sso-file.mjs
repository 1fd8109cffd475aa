/** owner-sso with a folder. */
export const about = { name: 'owner-sso, file', packages: ['@owner-sso/token-store-file'], store: 'file' }

export async function open({ settings, service }) {
  const { openOurs } = await import('../applications/owner-sso.mjs')
  const { fileTokenStore } = await import('@owner-sso/token-store-file')
  return openOurs(fileTokenStore({ path: settings.path }), service)
}
