/** The two things that a row asks of a program: core's quick start prints the vehicles; a server signs a person in. */
import { startEmulator } from '@owner-sso/emulator'
import { freePort, run, start } from './project.mjs'

const credential = 'correct horse'

/** Settings of the programs of the documents, for an emulator of their own. */
function settings(emulator) {
  return {
    OWNER_SSO_AUTH_URL: emulator.authUrl,
    OWNER_SSO_API_URL: emulator.ownerApiUrl,
    OWNER_SSO_ACCOUNT: 'plain@example.com',
    OWNER_SSO_CREDENTIAL: credential,
    SESSION_SECRET: 'a secret of the matrix, 32 bytes!',
  }
}

/** Runs a program with an emulator beside it, and answers with what it printed. */
export function succeeds(command, args, { cwd, env = {} }) {
  return withEmulator((emulator) => run(command, args, { cwd, env: { ...settings(emulator), ...env } }))
}

/** Runs a program that has to print the account's vehicles. */
export async function printsVehicles(command, args, options) {
  const printed = await succeeds(command, args, options)
  if (!/\bvin\b|EMULATED/u.test(printed)) throw new Error(`It printed no vehicle:\n${printed}`)
}

async function withEmulator(use) {
  const emulator = await startEmulator()
  try {
    return await use(emulator)
  } finally {
    await emulator.close()
  }
}

/**
 * Starts a server, and signs in there: a wrong password is 401 with its code, the right one answers with the user, the passcode of a second
 * factor is asked for and taken in the same session.
 */
export function signsPeopleIn(command, args, { cwd }) {
  return withEmulator((emulator) => signPeopleIn(emulator, command, args, cwd))
}

async function signPeopleIn(emulator, command, args, cwd) {
  const port = await freePort()
  const program = start(command, args, { cwd, env: { ...settings(emulator), PORT: String(port) } })
  try {
    await answering(port, program)
    const cookies = new Map()
    const post = async (fields) => {
      const answer = await fetch(`http://127.0.0.1:${port}/login`, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
        redirect: 'manual',
      })
      for (const line of answer.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/u.exec(line)
        cookies.set(name, value)
      }
      return { status: answer.status, text: await answer.text() }
    }
    const expectAnswer = (what, { status, text }, expectedStatus, expectedText) => {
      if (status === expectedStatus && text.includes(expectedText)) return
      throw new Error(`${what}: ${status} ${text.slice(0, 500)}\n${program.printed().slice(-3000)}`)
    }
    expectAnswer(
      'a wrong password',
      await post({ identity: 'plain@example.com', credential: 'a guess' }),
      401,
      'ERR_SSO_INVALID_CREDENTIALS',
    )
    const plain = await post({ identity: 'plain@example.com', credential })
    expectAnswer('the right password', plain, 200, '"account":"plain@example.com"')
    expectAnswer(
      'a password of two',
      await post({ identity: 'mfa@example.com', credential }),
      401,
      'ERR_SSO_PASSCODE_REQUIRED',
    )
    const factor = emulator.accounts.find(({ identity }) => identity === 'mfa@example.com')
    const second = await post({ passcode: factor.passcode('Device #1'), factor: factorId(emulator) })
    expectAnswer('the passcode', second, 200, '"account":"mfa@example.com"')
  } finally {
    await program.stop()
  }
}

/** The id of the first device, as the service listed it last. */
function factorId(emulator) {
  const { factors = [] } = emulator.accounts.find(({ identity }) => identity === 'mfa@example.com')
  return factors[0]?.id ?? ''
}

async function answering(port, program) {
  while (program.isRunning()) {
    const answers = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
    if (answers) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`The server ended:\n${program.printed()}`)
}
