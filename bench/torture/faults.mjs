/**
 * The faults, each with what it does to a cell and, where it is so, why nobody can mend it. `play` is over when the fault is.
 *
 * The request that a fault strikes is the first one to refresh, whoever makes it.
 */
const kill = (pid, signal = 'SIGKILL') => process.kill(pid, signal)

const answerIsGone = 'The service has spent the refresh token, and the only copy of the new one is gone.'

export const faults = [
  {
    title: 'killed before the request',
    async play({ arm, untilDeath, real }) {
      arm('before-request')
      await untilDeath()
      await real(3)
    },
  },
  {
    title: 'killed with the answer in flight',
    inherent: answerIsGone,
    async play({ nextRefresh, real }) {
      const { pid, answer } = await nextRefresh()
      answer({ committed: () => kill(pid) })
      await real(3)
    },
  },
  {
    title: 'killed between answer and store',
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
    inherent: answerIsGone,
    async play({ nextRefresh, real }) {
      const { answer } = await nextRefresh()
      answer({ lost: true })
      await real(3)
    },
  },
  {
    title: 'an answer after 20 s',
    lasts: 26,
    play: (cell) => slow(cell, 20),
  },
  {
    title: 'an answer after 60 s',
    lasts: 66,
    play: (cell) => slow(cell, 60),
  },
  {
    title: 'a process frozen for three minutes',
    lasts: 184,
    async play({ nextRefresh, real }) {
      const { pid, answer } = await nextRefresh()
      kill(pid, 'SIGSTOP')
      answer({})
      await real(180)
      kill(pid, 'SIGCONT')
      await real(3)
    },
  },
  {
    title: 'clocks an hour apart',
    isSkewed: true,
    async play({ nextRefresh, real }) {
      const { answer } = await nextRefresh()
      answer({})
      await real(2)
    },
  },
  {
    title: 'the store gone for ten seconds',
    lasts: 14,
    play: (cell) => without(cell, 'vanish', 'comeBack'),
  },
  {
    title: 'the store full for ten seconds',
    lasts: 14,
    play: (cell) => without(cell, 'fill', 'makeRoom'),
  },
  {
    title: 'the store back in time',
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
    title: 'a lock left by a dead machine',
    async play({ nextRefresh, pids, real }) {
      const { answer } = await nextRefresh()
      for (const pid of pids()) kill(pid)
      answer({ status: 503 })
      await real(3)
    },
  },
  {
    title: 'an answer without a refresh token',
    async play({ nextRefresh, real }) {
      const { answer } = await nextRefresh()
      answer({ omit: true })
      await real(2)
    },
  },
  {
    title: 'a 503 for a minute',
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
    moments: ['after a night'],
    async play({ nextRefresh, real }) {
      const { answer } = await nextRefresh()
      answer({})
      await real(2)
    },
  },
  {
    title: 'a refusal of the owner API, for all at once',
    moments: ['in use'],
    async play({ service, pass, real }) {
      await pass(10)
      service.refuseAll()
      await real(5)
    },
  },
]

/** Longer than the life of a lock. */
async function slow({ nextRefresh, real }, seconds) {
  const { answer } = await nextRefresh()
  answer({ delay: seconds * 1000 })
  await real(seconds + 5)
}

/** From the moment on in which the request is at the service. */
async function without({ nextRefresh, real, pids, store }, takeAway, giveBack) {
  const { answer } = await nextRefresh()
  await store[takeAway](pids())
  answer({})
  await real(10)
  await store[giveBack](pids())
  await real(3)
}
