/** An unknown page in a few words, for the error that ends a login on it: its title and the names of its fields, no values. */
import { quotedNames, quotedWords } from '@owner-sso/token-manager/support'
import type { HtmlPage } from './html-page.ts'

/** @param secrets - what was sent, so that the page may repeat it */
export function sightingOf(page: HtmlPage | undefined, secrets: readonly string[] = []): string {
  if (page === undefined) return 'no page'
  const title = quotedWords(page.title, secrets)
  const inputs = [...page.forms.flatMap((form) => form.inputs), ...page.looseInputs]
  const names = quotedNames(
    inputs.map(({ name }) => name).filter((name) => name !== ''),
    secrets,
  )
  const titled = title === undefined ? 'a page without a title to quote' : `a page titled “${title}”`
  return `${titled}, ${names === '' ? 'without fields' : `with the fields ${names}`}`
}
