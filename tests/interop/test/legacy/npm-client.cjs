/**
 * A legacy client, as its readme has it: signs in, asks the owner API for a vehicle, refreshes, and asks again. The module's
 * path is its argument; credentials come on stdin, what it ends with goes to stdout, both as JSON.
 */
const { text } = require('node:stream/consumers')

const client = require(process.argv[2])

async function main() {
  const { authToken, refreshToken } = await client.loginAsync(JSON.parse(await text(process.stdin)))
  if (authToken === undefined) return {}
  const vehicle = await client.vehicleAsync({ authToken })
  const fresh = await client.refreshTokenAsync(refreshToken)
  const again = await client.vehicleAsync({ authToken: fresh.authToken })
  return { token: authToken, vehicle: vehicle.display_name, fresh: fresh.authToken, again: again.display_name }
}

const say = (ending) => console.log(JSON.stringify(ending))

main().then(say, (error) => say({ error: String(error?.message ?? error) }))
