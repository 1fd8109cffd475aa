/** The emulator with TLS in a process of its own, so that its work is not counted as a client's. A passcode for all, when asked. */
import { startEmulator } from '@owner-sso/emulator'

const credential = 'correct horse'
const totpSecret = 'JBSWY3DPEHPK3PXP'
const accounts = [
  { identity: 'plain@example.com', credential },
  // A passcode is good once an account: each login with a second factor has an account of its own.
  ...Array.from({ length: Number(process.argv[2]) }, (_, n) => ({
    identity: `mfa-${n}@example.com`,
    credential,
    totpSecret,
  })),
]
const emulator = await startEmulator({ tls: true, firewall: false, inspector: false, accounts })
process.on('message', () => process.send({ passcode: emulator.accounts.at(-1).passcode() }))
process.once('disconnect', () => void emulator.close())
process.send({ authUrl: emulator.authUrl, ca: emulator.ca })
