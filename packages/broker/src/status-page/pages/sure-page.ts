/**
 * Asks before a program loses its key: both can't be undone.
 */
import { card, csrfField, type Html } from '#sign-in-pages'
import { html } from 'hono/html'
import { page, type PageContext } from './page.ts'
import { programQuery } from './program-page.ts'

export interface SurePage extends PageContext {
  readonly name: string
  readonly action: ProgramAction
  /** Of the page that it was asked for on. */
  readonly form: string
}

export type ProgramAction = 'rotate' | 'revoke'

const questions: Readonly<
  Record<ProgramAction, readonly [title: (name: string) => string, lead: string, yes: string]>
> = {
  rotate: [
    (name) => `Make a new key for ${name}?`,
    'The key that it has ends at once: it gets nothing until it has the new one.',
    'Make a new key',
  ],
  revoke: [(name) => `Revoke ${name}?`, 'It gets nothing from its next call on.', 'Revoke'],
}

export function surePage(shown: SurePage): Html {
  const { path, formToken, name, action, form } = shown
  const [titleOf, lead, yes] = questions[action]
  const address = `${path}/program${programQuery(name)}`
  const content = html`<form method="post" action="${address}">
      ${csrfField(formToken)}<input type="hidden" name="form" value="${form}" />
      <input type="hidden" name="action" value="${action}" />
      <p><button class="button" type="submit" name="sure" value="yes">${yes}</button></p>
    </form>
    <p><a href="${address}">Leave it as it is</a></p>`
  return page(shown, titleOf(name), card(titleOf(name), lead, content))
}

export function isProgramAction(value: unknown): value is ProgramAction {
  return value === 'rotate' || value === 'revoke'
}
