/** What axe says against a page that a test has open. */
import axe from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'

/** Each with the page's path and the elements. In dark only the colours are looked at: all else is as in light. */
export async function objections(page: Page, colorScheme: BrowserContextOptions['colorScheme']): Promise<string[]> {
  const all = { rules: { 'target-size': { enabled: true } } }
  const options = colorScheme === 'dark' ? { runOnly: ['color-contrast'] } : all
  await page.evaluate(axe.source)
  return page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => [location.pathname, id, ...nodes.map(({ target }) => target)].join(' ')))`,
  )
}
