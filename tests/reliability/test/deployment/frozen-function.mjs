/**
 * A function of a platform that freezes it between requests: it answers with what the owner API says to its token. The time
 * that passes while it is frozen is read from a file; the monotonic clock stands still meanwhile, as in a virtual machine that
 * is suspended.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const { now } = Date
Date.now = () => now() + Number(readFileSync(process.env.PASSED_FILE, 'utf8')) * 1000

const { createSso, createTokenManager } = await import('@owner-sso/core')
const { fileTokenStore } = await import('@owner-sso/token-store-file')

const waiting = []
const tokens = createTokenManager({
  issuer: createSso({ authUrl: process.env.OWNER_SSO_AUTH_URL }),
  store: fileTokenStore({ path: process.env.STORE_PATH }),
  ...(process.env.WAIT_UNTIL ? { waitUntil: (work) => waiting.push(work) } : { background: false }),
})

async function handler() {
  const accessToken = await tokens.getAccessToken('ann')
  const headers = { authorization: `Bearer ${accessToken}` }
  const { status } = await fetch(`${process.env.OWNER_SSO_API_URL}/api/1/vehicles`, { headers })
  return status
}

/** A platform with waitUntil sends the answer first, and freezes once this has settled; here both are one answer. */
async function answer() {
  try {
    const status = await handler()
    await Promise.all(waiting.splice(0))
    return String(status)
  } catch (error) {
    return String(error.code)
  }
}

const server = createServer((_request, response) => void answer().then((text) => response.end(text)))
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit(0))
