/** A legacy client from npm, unchanged: what calls it gets the token at the broker, in place of the client's own sign-in. */
const { createHash } = require('node:crypto')
const { createInterface } = require('node:readline')

const client = require(process.argv[2])
const { BROKER_URL, BROKER_KEY } = process.env

async function main() {
  for await (const _ of createInterface({ input: process.stdin })) {
    const answer = await fetch(`${BROKER_URL}/token`, { headers: { authorization: `Bearer ${BROKER_KEY}` } })
    const authToken = (await answer.text()).trim()
    const { display_name: name } = await client.vehicleAsync({ authToken })
    console.log(`${name === 'Daily' ? 200 : 500} ${createHash('sha256').update(authToken).digest('hex').slice(0, 12)}`)
  }
}

void main()
