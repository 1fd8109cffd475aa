/**
 * What `npm start` runs: the portal, against the emulator or the service that `OWNER_SSO_AUTH_URL` names, until Ctrl-C.
 */
import { once } from 'node:events'
import { createSso } from '@owner-sso/core'
import { createApp } from './app.ts'
import { type Demo, startDemo } from './demo.ts'
import { type RunningServer, serve } from './server.ts'
import { type Service, type Settings, settingsFrom } from './settings.ts'

async function main(): Promise<void> {
  const settings = settingsFrom(process.env)
  const { service, demo } = await servicesFor(settings)
  try {
    const server = await startPortal(settings, service, demo)
    console.log(`\nOwner portal: ${server.url}   (Ctrl-C ends it)\n`)
    if (server.port !== settings.port && settings.port !== 0) {
      console.log(`Port ${settings.port} is in use, so this is another one; the variable PORT chooses.\n`)
    }
    console.log(demo ? `${demo.lines().join('\n')}\n` : `It signs in with ${service.authUrl}\n`)
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    await server.close()
  } finally {
    await demo?.close()
  }
}

/** The services of the settings, or else the emulator's. */
async function servicesFor({ service }: Settings): Promise<{ service: Service; demo?: Demo }> {
  if (service) return { service }
  const demo = await startDemo()
  return { service: demo, demo }
}

function startPortal(settings: Settings, service: Service, demo: Demo | undefined): Promise<RunningServer> {
  const { authUrl, regionalAuthUrls, apiUrl } = service
  const { host, port, behindHttpsProxy, sessionSecret } = settings
  const app = createApp({
    sso: createSso({ authUrl, regionalAuthUrls }),
    apiUrl,
    behindHttpsProxy,
    ...(sessionSecret !== undefined && { sessionSecret }),
    ...(demo && { demo: demo.box }),
  })
  return serve(app, host, port)
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
