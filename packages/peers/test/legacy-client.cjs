/**
 * A legacy client, as its readme has it: signs in, and asks the owner API for a vehicle. The module's path is its argument;
 * credentials come on stdin, what it ends with goes to stdout, both as JSON.
 */
const { text } = require('node:stream/consumers')

const client = require(process.argv[2])

async function main() {
  const credentials = JSON.parse(await text(process.stdin))
  const { authToken } = await client.loginAsync(credentials)
  const vehicle = authToken === undefined ? undefined : await client.vehicleAsync({ authToken })
  console.log(JSON.stringify({ token: authToken, vehicle: vehicle?.display_name }))
}

main().catch((error) => console.log(JSON.stringify({ error: String(error?.message ?? error) })))
