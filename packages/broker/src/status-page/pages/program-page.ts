/**
 * One program: what it may have, a new key for it, and its end. Both are asked about first: they can't be undone.
 */
import { card, csrfField, type Html, type Notice, noticeBox, timeLeft } from '#sign-in-pages'
import { html } from 'hono/html'
import type { BrokerClient } from '../../clients/client.ts'
import { page, type PageContext } from './page.ts'

export interface ProgramPage extends PageContext {
  readonly program: BrokerClient
  readonly form: string
  readonly now: number
  readonly problem?: Notice | undefined
}

export function programPage(shown: ProgramPage): Html {
  const { path, formToken, program, form, now, problem } = shown
  const { name, accounts, expires_at: ends = Infinity } = program
  const content = html`${noticeBox(problem, 'bad')}
    <form method="post" action="${path}/program${programQuery(name)}">
      ${csrfField(formToken)}<input type="hidden" name="form" value="${form}" />
      ${
        ends > now &&
        html`<div class="lead">
            <h2>A new key</h2>
            <p class="quiet">The old key ends at once.</p>
          </div>
          <p><button class="button plain" type="submit" name="action" value="rotate">Make a new key</button></p>`
      }
      <div class="lead">
        <h2>Revoke it</h2>
        <p class="quiet">It gets nothing from its next call on. You can invite it again, with another key.</p>
      </div>
      <p><button class="button plain" type="submit" name="action" value="revoke">Revoke</button></p>
    </form>
    <p><a href="${path}">Back to the status page</a></p>`
  return page(shown, name, card(name, `For ${accounts.join(', ')}: ${allowed(program, now)}.`, content))
}

export interface SurePage extends PageContext {
  readonly name: string
  readonly action: ProgramAction
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

const scopes = { token: 'tokens', proxy: 'owner API' } as const

/** What a program may have, and for how long. */
export function allowed({ scope, expires_at: ends }: BrokerClient, now: number): string {
  const expiry = ends === undefined ? '' : ends > now ? ` for ${timeLeft(ends - now)}` : ' (expired)'
  return scope.map((each) => scopes[each]).join(', ') + expiry
}

/** The part of an address that says which program is meant. Half a character, which a file may have, can't be said. */
export function programQuery(name: string): string {
  return `?${new URLSearchParams({ name }).toString()}`
}
