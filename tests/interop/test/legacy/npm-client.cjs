/**
 * A legacy client, as its readme has it: signs in, asks the owner API for the vehicles, refreshes, and asks again. The module's
 * path is its argument; credentials come on stdin, what it ends with goes to stdout, both as JSON.
 */
const { text } = require('node:stream/consumers')

const client = require(process.argv[2])

async function main() {
  const { authToken, refreshToken } = await client.loginAsync(JSON.parse(await text(process.stdin)))
  if (authToken === undefined) return {}
  const before = await client.vehiclesAsync({ authToken })
  const fresh = await client.refreshTokenAsync(refreshToken)
  const after = await client.vehiclesAsync({ authToken: fresh.authToken })
  return { token: authToken, fresh: fresh.authToken, vehicles: [...before, ...after].map((each) => each.display_name) }
}

const say = (ending) => console.log(JSON.stringify(ending))

main().then(say, (error) => say({ error: String(error?.message ?? error) }))
