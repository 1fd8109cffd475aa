/** Logins of legacy clients: each thing that `strictness: 'lenient'` takes beside the document. */
import type { Emulator } from '@owner-sso/emulator'
import { exchangeFields, form, json, openLogin, reachPasscode, SCOPE, wholeForm } from './login.ts'

const plain = 'plain@example.com'

/** The query is left out, and the token requests are form encoded. */
export async function signInFormEncoded(emulator: Emulator): Promise<void> {
  const login = await openLogin(emulator, plain)
  const bare = new URL(login.page.address)
  bare.search = ''
  const answer = await login.person.send(bare, form(wholeForm(login)))
  const callback = new URL(answer.headers.get('location') ?? 'none:')
  const token = `${emulator.authUrl}/oauth2/v3/token`
  await login.person.send(token, form(exchangeFields(login, callback)))
  for (const scope of [{ scope: SCOPE }, {}]) {
    const { refresh_token } = await emulator.issueTokens(plain)
    await fetch(token, form({ grant_type: 'refresh_token', client_id: 'ownerapi', refresh_token, ...scope }))
  }
}

/** A verification without the `_csrf`, or with the login page's; the transaction id alone after it, posted or asked for. */
export async function signInByTransaction(emulator: Emulator): Promise<void> {
  emulator.clock.advance(60)
  const step = await reachPasscode(emulator, 'mfa@example.com')
  await step.verify({ _csrf: undefined })
  const { login, transactionId } = step
  await login.person.send(login.page.address, form({ transaction_id: transactionId }))

  emulator.clock.advance(60)
  const other = await reachPasscode(emulator, 'mfa@example.com')
  const asked = `${emulator.authUrl}/oauth2/v3/authorize?transaction_id=${other.transactionId}`
  await other.login.person.send(asked)
  await other.verify({ _csrf: other.login.page.hidden['_csrf'] })
  const answer = await other.login.person.send(asked)
  const fields = exchangeFields(other.login, new URL(answer.headers.get('location') ?? 'none:'))
  await fetch(`${emulator.authUrl}/oauth2/v3/token`, json({ ...fields, code: [fields['code']] }))
}

/** A part of the query alone, which is none of a login. */
export async function openAmiss({ authUrl }: Emulator): Promise<void> {
  await fetch(`${authUrl}/oauth2/v3/authorize?client_id=ownerapi`)
}

/** The picture of a page that shows a captcha, and of one that shows none. */
export async function meetCaptcha(emulator: Emulator): Promise<void> {
  for (const captcha of [false, true]) {
    emulator.account(plain).change({ captcha })
    const { person } = await openLogin(emulator, plain)
    await person.send(`${emulator.authUrl}/captcha`)
  }
  emulator.account(plain).change({ captcha: false })
}
