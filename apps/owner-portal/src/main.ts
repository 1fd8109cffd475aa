/**
 * What `npm start` runs: the portal, against the emulator or the service that `OWNER_SSO_AUTH_URL` names, until Ctrl-C.
 */
import { once } from 'node:events'
import { createSso, createTokenManager, type Sso, type TokenManager, withTimeLimit } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { createApp, type PortalOptions } from './app.ts'
import { type Demo, startDemo } from './demo.ts'
import { serve } from './server.ts'
import { type Service, type Settings, settingsFrom } from './settings.ts'

async function main(): Promise<void> {
  const settings = settingsFrom(process.env)
  const { service, demo } = await servicesFor(settings)
  try {
    const sso = ssoOf(service)
    const tokens = createTokenManager({ sso, store: memoryTokenStore() })
    const app = createApp({ ...portalOptions(settings, service, demo), sso, tokens })
    const server = await serve(app, settings.host, settings.port)
    console.log(`\nOwner portal: ${server.url}   (Ctrl-C ends it)\n`)
    if (server.port !== settings.port && settings.port !== 0) {
      console.log(`Port ${settings.port} is in use, so this is another one; the variable PORT chooses.\n`)
    }
    console.log(demo ? `${demo.lines().join('\n')}\n` : `It signs in with ${service.authUrl}\n`)
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    await server.close()
    await settle(tokens)
  } finally {
    await demo?.close()
  }
}

function ssoOf({ authUrl, regionalAuthUrls, tokenUrl, redirectUri, transport }: Service): Sso {
  return createSso({
    authUrl,
    regionalAuthUrls,
    ...(tokenUrl !== undefined && { tokenUrl }),
    ...(redirectUri !== undefined && { redirectUri }),
    ...(transport !== undefined && { transport }),
  })
}

/** The services of the settings, or else the emulator's. */
async function servicesFor({ service }: Settings): Promise<{ service: Service; demo?: Demo }> {
  if (service) return { service }
  const demo = await startDemo()
  return { service: demo, demo }
}

function portalOptions(
  { behindHttpsProxy, sessionSecret }: Settings,
  { apiUrl, transport }: Service,
  demo: Demo | undefined,
): Omit<PortalOptions, 'sso'> {
  return {
    apiUrl,
    ...(transport !== undefined && { transport }),
    behindHttpsProxy,
    ...(sessionSecret !== undefined && { sessionSecret }),
    ...(demo && { demo: demo.box }),
  }
}

/** Milliseconds that a refresh may still take when the pages have ended: its own deadline of 30 s, and the save. */
const settlingTime = 45_000

/** A refresh under way is never cut off, wherever its tokens go. */
async function settle(tokens: TokenManager): Promise<void> {
  await withTimeLimit(settlingTime, (signal) => tokens.settled({ signal })).catch((error: unknown) => {
    console.error(`A refresh did not end: ${error instanceof Error ? error.message : String(error)}`)
  })
}

// Ctrl-C can arrive twice, from the terminal and from the package manager: the second may not cut the end short.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined)

try {
  await main()
  process.exit(0)
} catch (error) {
  console.error(`The portal could not start: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
}
