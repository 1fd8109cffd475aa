/** The emulated service, in a process of its own, which ends with the one that started it. */
import { startEmulator } from '@owner-sso/emulator'

const { authUrl, ownerApiUrl } = await startEmulator({ firewall: false })
process.once('disconnect', () => process.exit())
process.send({ authUrl, ownerApiUrl, account: 'plain@example.com', credential: 'correct horse' })
