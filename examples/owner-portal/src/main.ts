/**
 * What `npm start` runs: the portal, against the emulator or the service that `OWNER_SSO_AUTH_URL` names, until Ctrl-C.
 */
import { once } from 'node:events'
import { createSso, createTokenManager, withTimeLimit } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { createApp } from './app.ts'
import { type Demo, startDemo } from './demo.ts'
import { serve } from './server.ts'
import { type Service, settingsFrom } from './settings.ts'

async function main(): Promise<void> {
  const { host, port, behindHttpsProxy, sessionSecret, refresh, service: named } = settingsFrom(process.env)
  const service: Service & Partial<Demo> = named ?? (await startDemo())
  try {
    const { apiUrl, box: demo } = service
    const { transport } = service.sso
    const sso = createSso(service.sso)
    const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore(), refresh })
    const app = createApp({ sso, tokens, apiUrl, transport, behindHttpsProxy, sessionSecret, demo })
    const server = await serve(app, host, port)
    console.log(`\nOwner portal: ${server.url}   (Ctrl-C ends it)\n`)
    if (server.port !== port && port !== 0) {
      console.log(`Port ${port} is in use, so this is another one; the variable PORT chooses.\n`)
    }
    console.log(`${service.lines?.().join('\n') ?? `It signs in with ${sso.authUrl}`}\n`)
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    await server.close()
    // A refresh under way is never cut off, wherever its tokens go.
    await withTimeLimit(settlingTime, (signal) => tokens.settled({ signal })).catch((error: unknown) => {
      console.error(`A refresh did not end: ${messageOf(error)}`)
    })
  } finally {
    await service.close?.()
  }
}

/** Milliseconds that a refresh may still take when the pages have ended: its own deadline of 30 s, and the save. */
const settlingTime = 45_000

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

// Ctrl-C can arrive twice, from the terminal and from the package manager: the second may not cut the end short.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined)

try {
  await main()
  process.exit(0)
} catch (error) {
  console.error(`The portal could not start: ${messageOf(error)}`)
  process.exit(1)
}
