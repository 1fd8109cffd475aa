/**
 * One process of an application: it opens a candidate and lets callers ask for a token, when it is told to. Each caller uses the token
 * at the owner API at once; where that answers 401, it does what the candidate's documentation has for it.
 */
import { jump, realNow, setClock } from './clock.mjs'
import { setTraps } from './traps.mjs'

let candidate
let ownerApi

const commands = {
  async open({ opened, clock, places }) {
    setClock(clock)
    setTraps(places.traps, places.tokenPorts)
    ownerApi = places.apiUrl
    const { open } = await import(opened.module)
    candidate = await open(opened.context)
  },
  signIn: ({ grant }) => candidate.signIn(grant),
  jump: ({ made }) => jump(made),
  settled: () => candidate.settled?.(),
  /** What became of so many callers who ask at once. */
  async ask({ callers, after }) {
    await new Promise((resolve) => setTimeout(resolve, after))
    const known = new Map()
    const isAccepted = (token) => {
      if (!known.has(token)) known.set(token, statusOf(token))
      return known.get(token)
    }
    return Promise.all(
      Array.from({ length: callers }, async () => {
        const asked = realNow()
        const failure = await call(isAccepted).catch(({ code, reason, message }) =>
          String(reason ?? code ?? message).slice(0, 40),
        )
        return { wait: realNow() - asked, failure }
      }),
    )
  },
}

async function call(isAccepted) {
  let token = await candidate.getAccessToken()
  if (!(await isAccepted(token)) && candidate.refused) token = await candidate.refused(token)
  if (!(await isAccepted(token))) throw new Error('401')
  candidate.accepted?.(token)
}

async function statusOf(token) {
  const { status } = await fetch(ownerApi, { headers: { authorization: `Bearer ${token}` } })
  return status === 200
}

process.on('disconnect', () => process.exit(0))
// A rejection that nobody handles is the candidate's affair, but must not end our measurement unseen.
process.on('message', ({ id, command, ...details }) => {
  const send = (message) => process.connected && process.send({ id, ...message })
  Promise.resolve()
    .then(() => commands[command](details))
    .then(
      (value) => send({ value }),
      (error) => send({ error: String(error?.stack ?? error) }),
    )
})
