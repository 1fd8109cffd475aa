/** `npm run docs -- --open`: the site that was just built, to this machine alone, until Ctrl-C. */
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { serve } from 'vitepress'

const [host, port] = ['127.0.0.1', Number(process.env.PORT ?? 4173)]
if (process.argv.includes('--open')) {
  // It has no option for the host, but hands this to `server.listen()` as it is, and prints it as text.
  const { server } = await serve({
    root: fileURLToPath(new URL('.', import.meta.url)),
    port: { host, port, toString: () => String(port) },
  })
  if (!server.listening) await once(server, 'listening')
  console.log(`Open http://${host}:${port}/; Ctrl-C ends it.`)
}
