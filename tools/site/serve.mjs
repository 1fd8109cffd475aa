/** `npm run docs -- --open`: the site that was just built, until Ctrl-C. */
import { fileURLToPath } from 'node:url'
import { serve } from 'vitepress'

const port = Number(process.env.PORT ?? 4173)
if (process.argv.includes('--open')) {
  await serve({ root: fileURLToPath(new URL('.', import.meta.url)), port })
  console.log(`Open http://localhost:${port}/; Ctrl-C ends it.`)
}
