/** Logins of legacy clients: each thing that `strictness: 'lenient'` takes beside the document. */
import type { Emulator } from '@owner-sso/emulator'
import { exchangeFields, form, openLogin, reachPasscode, SCOPE, wholeForm } from './login.ts'

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

/** The `_csrf` is left out of the verification, and the transaction id posted alone after it. */
export async function signInByTransaction(emulator: Emulator): Promise<void> {
  emulator.clock.advance(60)
  const step = await reachPasscode(emulator, 'mfa@example.com')
  await step.verify({ _csrf: undefined })
  const { login, transactionId } = step
  await login.person.send(login.page.address, form({ transaction_id: transactionId }))
}
