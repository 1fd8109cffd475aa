/**
 * `node dist/sign-in.js`: signs an account in and puts its token set where all instances find it.
 *
 * The account's name and password come from OWNER_SSO_ACCOUNT and OWNER_SSO_CREDENTIAL, or are asked for.
 */
import { accountName, createSso, createTokenManager, type Factor, type PasscodeAnswer } from '@owner-sso/core'
import { described } from './log.ts'
import { openStore } from './open-store.ts'
import { openPrompt, type Prompt } from './prompt.ts'
import { SettingsError, signInSettingsFrom, ssoOptionsOf } from './settings.ts'

const prompt = openPrompt()
try {
  console.log(`${await signIn(prompt)} is signed in.`)
  process.exit(0)
} catch (error) {
  console.error(`Nobody was signed in: ${described(error).message}`)
  process.exit(error instanceof SettingsError || error instanceof TypeError ? 2 : 1)
}

/** Resolves to the name that the account's tokens are kept under. */
async function signIn({ ask, askSecretly }: Prompt): Promise<string> {
  const settings = signInSettingsFrom(process.env)
  const { OWNER_SSO_ACCOUNT, OWNER_SSO_CREDENTIAL } = process.env
  const sso = createSso(ssoOptionsOf(settings))
  const { store } = openStore(settings)
  // Made before the login, which so heeds a block that one of the gateways has met, and tells them of its own.
  const manager = createTokenManager({ sso, store })
  const identity = OWNER_SSO_ACCOUNT || (await ask('Account: '))
  const account = accountName(identity)
  // Asked first: a login whose tokens nobody can keep is one too many.
  await store.read(account)
  const credential = OWNER_SSO_CREDENTIAL || (await askSecretly('Password: '))
  const tokens = await sso.login({ identity, credential, passcode: (factors) => passcodeOf(factors, prompt) })
  await manager.save(account, tokens)
  return account
}

async function passcodeOf(factors: readonly Factor[], { ask, askSecretly }: Prompt): Promise<PasscodeAnswer> {
  const list = factors.map(({ name }, index) => `  ${index + 1}  ${name}\n`).join('')
  const number = factors.length === 1 ? 1 : Number(await ask(`${list}Which device (1 to ${factors.length})? `))
  const factor = factors[number - 1]
  if (!factor) throw new Error('There is no such device.')
  return { factorId: factor.id, passcode: await askSecretly(`Passcode of ${factor.name}: `) }
}
