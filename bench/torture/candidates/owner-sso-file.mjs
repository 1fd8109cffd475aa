/** owner-sso with a folder. */
export const about = {
  name: 'owner-sso, file',
  isOurs: true,
  packages: ['@owner-sso/token-manager', '@owner-sso/token-store-file'],
  documentation: '../../packages/token-store-file/README.md',
  processes: 8,
  store: 'file',
}

export async function open({ settings, service }) {
  const { openOurs } = await import('./shared/ours.mjs')
  const { fileTokenStore } = await import('@owner-sso/token-store-file')
  return openOurs(fileTokenStore({ path: settings.path }), service)
}
