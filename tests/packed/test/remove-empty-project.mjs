/** After all tests: what empty-project.mjs made is gone. */
import { rmSync } from 'node:fs'

export default function tearDown() {
  rmSync(process.env.OWNER_SSO_PACKED, { recursive: true, force: true })
}
