/** Logins by the book, made by the client library of this repository, and what such a login may run into. */
import { createSso, type Sso } from '@owner-sso/core'
import type { AccountOptions, Emulator } from '@owner-sso/emulator'
import { CREDENTIAL } from '../person.ts'
import { exchangeFields, form, json, openLogin, reachPasscode, wholeForm } from './login.ts'

const plain = 'plain@example.com'
const mfa = 'mfa@example.com'
export const LOCKED: AccountOptions = { identity: 'locked@example.com', credential: CREDENTIAL, locked: true }

const settled = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

/** Every kind of login, with the client of this repository. */
export async function signInByTheBook(emulator: Emulator): Promise<void> {
  const { authUrl, regionalAuthUrl } = emulator
  const sso = createSso({ authUrl, regionalAuthUrls: [regionalAuthUrl] })
  const tokens = await sso.login({ identity: plain, credential: CREDENTIAL })
  const fresh = await sso.refresh(tokens)
  emulator.expireRefreshTokens(plain)
  await settled(sso.refresh(fresh))
  await sso.refresh(await sso.login({ identity: 'regional@example.com', credential: CREDENTIAL }))
  await settled(sso.login({ identity: plain, credential: 'wrong' }))
  await settled(sso.login({ identity: LOCKED.identity, credential: CREDENTIAL }))
  for (const mfaAt of ['code-exchange', 'form-submission'] as const) {
    emulator.change({ mfaAt })
    await signInWithPasscode(emulator, sso)
  }
  emulator.change({ mfaAt: 'code-exchange' })
}

/** A wrong passcode first, and the right one after it. */
async function signInWithPasscode(emulator: Emulator, sso: Sso): Promise<void> {
  emulator.clock.advance(60)
  const account = emulator.accounts.find(({ identity }) => identity === mfa)
  const outcome = await sso.beginLogin({ identity: mfa, credential: CREDENTIAL })
  if (outcome.kind !== 'passcode-required') throw new Error('The service asked for no passcode')
  const [factor] = outcome.factors
  const factorId = factor?.id ?? ''
  await settled(sso.completeLogin(outcome.pending, { factorId, passcode: account?.passcode('Tablet') ?? '' }))
  await sso.completeLogin(outcome.pending, { factorId, passcode: account?.passcode(factorId) ?? '' })
}

/** What is within the document, but not within what that client ever sends. */
export async function signInOtherwise(emulator: Emulator): Promise<void> {
  const { authUrl } = emulator
  const cancelled = await openLogin(emulator, plain)
  const { transaction_id: transaction = '' } = cancelled.page.hidden
  const byButton = new URLSearchParams([...Object.entries(cancelled.page.hidden), ['cancel', '1']])
  await cancelled.person.send(cancelled.page.address, { method: 'POST', body: byButton })
  await cancelled.person.send(cancelled.page.address, form({ transaction_id: transaction, cancel: '1' }))

  emulator.clock.advance(60)
  const byPage = await reachPasscode(emulator, mfa)
  await byPage.verify()
  const { person, page } = byPage.login
  await person.send(page.address, form({ _csrf: byPage.csrf, transaction_id: byPage.transactionId }))

  const byBackupCode = await reachPasscode(emulator, mfa)
  const attempts = `${authUrl}/oauth2/v3/authorize/mfa/backupcodes/attempt`
  const wrong = Array.from({ length: 10 }, () => 'WRONGCODE')
  for (const code of ['BACKUP001', ...wrong, 'BACKUP002']) {
    const fields = { transaction_id: byBackupCode.transactionId, backup_code: code }
    await byBackupCode.login.person.send(attempts, json(fields))
  }

  const failed = await openLogin(emulator, plain)
  const callback = await failed.person.submit(failed.page, plain)
  const fields = exchangeFields(failed, callback)
  await fetch(`${authUrl}/oauth2/v3/token`, json({ ...fields, code: 'unknown' }))
  await failed.person.send(failed.page.address, form({ ...wholeForm(failed), credential: 'wrong' }))
}

/** Each of the words that a verification may be refused with. */
export async function failVerifications(emulator: Emulator): Promise<void> {
  emulator.clock.advance(60)
  const unknown = await reachPasscode(emulator, mfa)
  await unknown.verify({ factor_id: 'unknown' })
  await unknown.verify({ _csrf: 'wrong' })
  await unknown.verify()
  const replayed = await reachPasscode(emulator, mfa)
  await replayed.verify()
  for (let attempt = 0; attempt < 6; attempt += 1) await replayed.verify({ passcode: '000000' })
  const late = await reachPasscode(emulator, mfa)
  emulator.clock.advance(301)
  await late.verify()
  const { person } = late.login
  await person.send(`${emulator.authUrl}/oauth2/v3/authorize/mfa/factors?transaction_id=${late.transactionId}`)
}
