/** How the inspector's page is bundled: one script, beside the page and its style sheet as they are. */
import { readFileSync } from 'node:fs'
import { defineConfig } from 'rolldown'
import { thirdPartyLicenses } from '../workspace/third-party-licenses.js'

const page = {
  name: 'inspector-page',
  generateBundle() {
    for (const fileName of ['index.html', 'inspector.css']) {
      this.emitFile({ type: 'asset', fileName, source: readFileSync(`inspector/${fileName}`, 'utf8') })
    }
  },
}

export default defineConfig({
  input: { inspector: 'inspector/main.tsx' },
  platform: 'browser',
  plugins: [page, thirdPartyLicenses()],
  output: { dir: 'dist/inspector/page', entryFileNames: '[name].js', minify: true },
})
