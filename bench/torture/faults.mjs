/**
 * The faults, each with what it does to a cell: `inherent` is why nobody can mend it, `told` why ours is worse than it has to be, or
 * seems so. `play` is over when the fault is.
 *
 * The request that a fault strikes is the first one to refresh, whoever makes it.
 */
const answerIsGone = 'The refresh token is spent, and the only copy of the new one is gone, whoever asked for it.'

export const faults = [
  {
    title: 'killed before the request',
    text: 'Whoever is about to refresh is killed before a connection is opened: nothing was sent.',
    async play({ arm, untilDeath, real }) {
      arm('before-request')
      await untilDeath()
      await real(3)
    },
  },
  {
    title: 'killed with the answer in flight',
    text: 'The service has spent the refresh token, and the process is killed before it reads the answer.',
    inherent: answerIsGone,
    async play({ nextRefresh, real }) {
      const { pid, answer } = await nextRefresh()
      answer({ committed: () => process.kill(pid, 'SIGKILL') })
      await real(3)
    },
  },
  {
    title: 'killed between answer and store',
    text: 'The process has the answer, and is killed before its first write.',
    inherent: answerIsGone,
    async play({ arm, nextRefresh, real }) {
      const { pid, answer } = await nextRefresh()
      arm(`before-store-${pid}`)
      answer({})
      await real(3)
    },
  },
  {
    title: 'an answer lost on its way',
    text: 'The service has spent the refresh token, and the connection breaks in place of the answer.',
    inherent: answerIsGone,
    play: answered({ lost: true }, 3),
  },
  {
    title: 'an answer after 20 s',
    text: 'The service spends the refresh token at once and answers late: later than many a lock lives.',
    lasts: 26,
    play: answered({ delay: 20_000 }, 25),
  },
  {
    title: 'an answer after 60 s',
    text: 'The same, later than most locks live, and most requests may take.',
    told: 'We give a request 30 s, and so does openid-client. Then its answer counts as lost, and the replay revokes the family. google-auth-library and passport-oauth2-refresh wait for ever, and keep it. Our 30 s are the longest that a deployment, a function or Ctrl-C has to wait for. For a service as slow as this one, wrap the issuer: `{ ...issuer, refresh: (tokens, options) => issuer.refresh(tokens, { ...options, timeout: 100_000 }) }` kept the tokens in these cells. Callers without a token then wait for as long, and processes on another machine take the first one for dead after 45 s all the same.',
    lasts: 66,
    play: answered({ delay: 60_000 }, 65),
  },
  {
    title: 'a process frozen for three minutes',
    text: 'The process is stopped with the answer on its way, and goes on three minutes later.',
    told: 'In use nothing is lost. After a night no access token works, and the other seven wait for a stopped process of their machine for two minutes; then they take it for dead, and their replay revokes the family. Nobody knows whether it will ever go on. One process alone has nobody who could be impatient.',
    lasts: 184,
    async play({ nextRefresh, real }) {
      const { pid, answer } = await nextRefresh()
      process.kill(pid, 'SIGSTOP')
      answer({})
      await real(180)
      process.kill(pid, 'SIGCONT')
      await real(3)
    },
  },
  {
    title: 'clocks an hour apart',
    text: 'The clocks of the processes are spread from half an hour behind the service to half an hour ahead; one process alone is behind.',
    isSkewed: true,
    play: answered({}, 2),
  },
  {
    title: 'the store gone for 30 s',
    text: 'The store goes away while the service answers. (ioredis gives up after about ten: with redlock chance decides.)',
    told: 'After a night no access token works, and without the store nobody may refresh. Callers fail until it is back, and nothing is lost. Who has the tokens in the memory of one process does not notice.',
    lasts: 34,
    play: (cell) => without(cell, 30, 'vanish', 'comeBack'),
  },
  {
    title: 'the store full for 10 s',
    text: 'The same, and the store can be read.',
    lasts: 14,
    play: (cell) => without(cell, 10, 'fill', 'makeRoom'),
  },
  {
    title: 'the store back in time',
    text: 'Two minutes after a refresh the store has what it had before, as after a failover.',
    lasts: 24,
    async play({ nextRefresh, pass, round, real, store }) {
      await store.remember()
      const { answer } = await nextRefresh()
      answer({})
      await real(2)
      await pass(2)
      await round()
      await store.goBack()
      // Longer than the pause between two looks of ours.
      await real(20)
    },
  },
  {
    title: 'a lock left by dead processes',
    text: 'All processes are killed during the request, which the service answers with 503: whatever locks they had are still there.',
    async play({ nextRefresh, pids, real }) {
      const { answer } = await nextRefresh()
      for (const pid of pids()) process.kill(pid, 'SIGKILL')
      answer({ status: 503 })
      await real(3)
    },
  },
  {
    title: 'an answer without a refresh token',
    text: 'As a service that does not rotate gives it: the former one stays valid.',
    play: answered({ omit: true }, 2),
  },
  {
    title: 'a 503 for a minute',
    text: 'The service answers nothing else, and spends no refresh token.',
    told: 'After a night no access token works, and the service gives none: callers fail until it does, as everybody’s do. Nothing is lost.',
    lasts: 61,
    async play({ nextRefresh, real, service }) {
      const { answer } = await nextRefresh()
      service.behave(async () => ({ status: 503 }))
      answer({ status: 503 })
      await real(60)
    },
  },
  {
    title: 'eight processes at one expiry',
    text: 'All ask for the first time after a night, at the same moment.',
    moments: ['after a night'],
    play: answered({}, 2),
  },
  {
    title: 'a refusal of the owner API, for all at once',
    text: 'The owner API answers 401 to an access token that should work for three quarters of an hour.',
    moments: ['in use'],
    async play({ service, pass, real }) {
      await pass(10)
      service.refuseAll()
      await real(5)
    },
  },
]

/** The first refresh is answered like this, and nothing happens for so many seconds. */
function answered(how, seconds) {
  return async ({ nextRefresh, real }) => {
    const { answer } = await nextRefresh()
    answer(how)
    await real(seconds)
  }
}

/** From the moment on in which the request is at the service. */
async function without({ nextRefresh, real, pids, store }, seconds, takeAway, giveBack) {
  const { answer } = await nextRefresh()
  await store[takeAway](pids())
  answer({})
  await real(seconds)
  await store[giveBack](pids())
  await real(3)
}
