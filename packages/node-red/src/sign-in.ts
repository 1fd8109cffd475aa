/**
 * A sign-in from the account's dialog. What is typed there goes to the service, and is kept nowhere but, for a second factor, in
 * memory for five minutes.
 */
import { randomUUID } from 'node:crypto'
import { identifyOwner, isSubjectAccount, SsoError, typedCode } from '@owner-sso/core'
import { openAccount } from './account.ts'
import { areDeployed, dialogSettings, type Fields } from './dialog-settings.ts'
import type { AdminExchange, NodeRed, NodeStatus } from './node-red.ts'
import { problemWords } from './status.ts'
import { type StoredAccount, storedAccount } from './stored-account.ts'

/** What a sign-in does with the person's answer: a passcode, or the address that their browser ended on. */
type Finish = (fields: Fields) => Promise<void>

/** Milliseconds that a sign-in waits for a person: with the password in memory, or without. */
const waits = { passcode: 300_000, address: 600_000 }
/** Of one user, so that nobody's many sign-ins end another's. */
const mostWaiting = 10

export function registerSignIn(RED: NodeRed): void {
  const waiting = new Map<string, { readonly user: string; readonly finish: Finish }>()
  const underWay = new Set<string>()

  function waitFor(what: keyof typeof waits, user: string, finish: Finish): string {
    const [oldest, ...others] = [...waiting].filter(([, each]) => each.user === user)
    if (oldest !== undefined && others.length + 1 >= mostWaiting) waiting.delete(oldest[0])
    const id = randomUUID()
    waiting.set(id, { user, finish })
    setTimeout(() => waiting.delete(id), waits[what]).unref()
    return id
  }

  answer('status', async (fields) => ({ status: await statusOf(RED, fields) }))

  answer('password', async (fields, user) => {
    const account = storedAccount(RED, dialogSettings(RED, fields))
    const { credential = '' } = fields
    const outcome = await account.sso.beginLogin({ identity: account.name, credential })
    if (outcome.kind === 'tokens') {
      await account.save(outcome.tokens)
      return {}
    }
    const { factors, pending } = outcome
    const id = waitFor('passcode', user, async ({ passcode = '', factorId }) => {
      const code = typedCode(passcode)
      const typed = /^\d{1,8}$/u.test(code) ? { passcode: code, factorId } : { backupCode: code }
      await account.save(await account.sso.completeLogin(pending, typed))
    })
    return { id, factors: factors.map((factor) => ({ id: factor.id, name: factor.name })) }
  })

  answer('browser', async (fields, user) => {
    const account = storedAccount(RED, dialogSettings(RED, fields))
    const hint = isSubjectAccount(account.name) ? {} : { loginHint: account.name }
    const { url, request } = account.sso.createAuthorizationUrl(hint)
    const id = waitFor('address', user, async ({ address = '' }) => {
      const received = await account.sso.redeemCallback(address.trim(), request)
      await saveOfOwner(account, received)
    })
    return { id, url }
  })

  answer('finish', async ({ id = '', ...fields }) => {
    const found = waiting.get(id)
    if (found === undefined) throw new TypeError('This sign-in took too long. Start again.')
    if (underWay.has(id)) throw new TypeError('The answer before this one is being looked at.')
    underWay.add(id)
    await found.finish(fields).finally(() => underWay.delete(id))
    waiting.delete(id)
    return {}
  })

  function answer(name: string, work: (fields: Fields, user: string) => Promise<object>): void {
    const allowed = RED.auth.needsPermission('owner-sso.write')
    const mayDeploy = RED.auth.needsPermission('flows.write')
    // The end of a sign-in has the settings of its beginning.
    const allowedSettings = (...[request, response, next]: AdminExchange): void =>
      name === 'finish' || areDeployed(RED, textsOf(request.body)) ? next() : mayDeploy(request, response, next)
    RED.httpAdmin.post(
      `/owner-sso/${name}`,
      allowed,
      allowedSettings,
      async (...[request, response]: AdminExchange) => {
        const send = (status: number, body: object): void => {
          response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
          response.end(JSON.stringify(body))
        }
        // Pages of other sites can post forms here; they can't post JSON.
        if (!/^application\/json\b/u.test(request.headers['content-type'] ?? '')) return send(415, {})
        try {
          send(200, await work(textsOf(request.body), request.user?.username ?? ''))
        } catch (error) {
          send(400, problemOf(error))
        }
      },
    )
  }
}

/** Whoever has signed in there, says the service: what stands in the settings is a hint. */
async function saveOfOwner(account: StoredAccount, received: Parameters<typeof identifyOwner>[1]): Promise<void> {
  const { owner, tokens } = await identifyOwner(account.sso, received)
  if (owner.account !== account.name) {
    throw new TypeError(`The account that signed in is ${owner.account}, not ${account.name}. Nothing was stored.`)
  }
  await account.save(tokens)
}

async function statusOf(RED: NodeRed, fields: Fields): Promise<NodeStatus> {
  try {
    return await openAccount(RED, dialogSettings(RED, fields)).status()
  } catch (problem) {
    return problem instanceof TypeError ? { fill: 'red', shape: 'ring', text: problem.message } : problemWords(problem)
  }
}

function textsOf(body: unknown): Fields {
  return Object.fromEntries(
    Object.entries(Object(body)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/** Errors of ours say what to do, and hold no secret. */
function problemOf(error: unknown): { readonly code?: string; readonly message: string } {
  if (error instanceof SsoError) return { code: error.code, message: error.message }
  return { message: error instanceof TypeError ? error.message : 'Something went wrong. Look at Node-RED’s log.' }
}
