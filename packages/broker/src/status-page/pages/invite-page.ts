/**
 * Where a program is invited: its name, whose account it is for, and what it may have.
 */
import { card, csrfField, field, type Html, inputAttributes, type Notice, noticeBox } from '#sign-in-pages'
import { visible } from '@owner-sso/core'
import { html } from 'hono/html'
import type { BrokerClient, ClientScope } from '../../clients/client.ts'
import { page, type PageContext } from './page.ts'
import { programQuery } from './program-page.ts'

export interface InvitePage extends PageContext {
  readonly accounts: readonly string[]
  readonly typed: URLSearchParams
  readonly form: string
  readonly problem?: Notice | undefined
  /** The one that has the name already. */
  readonly program?: BrokerClient | undefined
}

const title = 'Invite a program'

export function invitePage(invitation: InvitePage): Html {
  const { path, formToken, accounts, typed, form, problem, program } = invitation
  if (accounts.length === 0) {
    const signIn = html`<p><a class="button" href="${path}/sign-in">Sign an account in</a></p>`
    return page(invitation, title, card(title, 'A program is invited for an account. There is none yet.', signIn))
  }
  const input = html`<input
    class="input"
    value="${typed.get('name') ?? ''}"
    autocomplete="off"
    autocapitalize="none"
    spellcheck="false"
    autofocus
    ${inputAttributes('name')}
  />`
  const link = program && { href: `${path}/program${programQuery(program.name)}`, label: `Open ${program.name}` }
  const content = html`${noticeBox(problem && { ...problem, ...(link && { link }) }, 'bad')}
    <form method="post" action="${path}/invite" novalidate>
      ${csrfField(formToken)}<input type="hidden" name="form" value="${form}" />
      ${field('name', 'Name of the program', input)} ${accountChoice(accounts, typed.get('account'))}
      ${scopeChoice(typed.get('scope') === 'proxy' ? 'proxy' : 'token')}
      <button class="button" type="submit">Invite</button>
    </form>`
  return page(invitation, title, card(title, 'It gets a key of its own, which you can revoke.', content))
}

function accountChoice(accounts: readonly string[], chosen: string | null): Html {
  const [first] = accounts
  if (accounts.length === 1) {
    return html`<p>
      For <strong>${visible(first ?? '')}</strong><input type="hidden" name="account" value="${first}" />
    </p>`
  }
  const selected = accounts.find((account) => account === chosen) ?? first
  return html`<fieldset>
    <legend>For which account?</legend>
    ${accounts.map((account) => choice('account', account, account === selected, html`${visible(account)}`))}
  </fieldset>`
}

function scopeChoice(chosen: ClientScope): Html {
  return html`<fieldset>
    <legend>What may it have?</legend>
    ${choice('scope', 'token', chosen === 'token', html`The account’s access tokens`)}
    ${choice('scope', 'proxy', chosen === 'proxy', html`Calls of the owner API through this broker, no token`)}
    <p class="hint small quiet">Calls work where the broker is set up to forward them.</p>
  </fieldset>`
}

function choice(name: string, value: string, isChosen: boolean, label: Html): Html {
  return html`<label class="choice">
    <input type="radio" name="${name}" value="${value}" ${isChosen ? 'checked' : ''} /><span>${label}</span>
  </label>`
}
