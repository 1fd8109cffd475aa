/** How the inspector's page is bundled: one script and one style sheet beside the page as it is. */
import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'rolldown'
import { thirdPartyLicenses } from '../../tools/build/third-party-licenses.js'

const read = (path) => readFileSync(new URL(`inspector/${path}`, import.meta.url), 'utf8')

const page = {
  name: 'inspector-page',
  generateBundle() {
    const styles = readdirSync(new URL('inspector/styles/', import.meta.url)).toSorted()
    this.emitFile({ type: 'asset', fileName: 'index.html', source: read('index.html') })
    this.emitFile({
      type: 'asset',
      fileName: 'inspector.css',
      source: styles.map((file) => read(`styles/${file}`)).join('\n'),
    })
  },
}

export default defineConfig({
  input: { inspector: 'inspector/app.tsx' },
  platform: 'browser',
  plugins: [page, thirdPartyLicenses()],
  output: { dir: 'dist/inspector/page', cleanDir: true, entryFileNames: '[name].js', minify: true },
})
