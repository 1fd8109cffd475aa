/** The emulator in a process of its own: says its address, and its memory when asked. */
import { startEmulator } from '@owner-sso/emulator'

const emulator = await startEmulator({ firewall: false })
process.on('message', () => {
  globalThis.gc()
  process.send(process.memoryUsage())
})
process.once('disconnect', () => void emulator.close())
process.send({ authUrl: emulator.authUrl })
