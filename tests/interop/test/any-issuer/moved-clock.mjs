/** A clock that the test moves, by `{ command: 'move', argument: milliseconds }` or `CLOCK_AHEAD`: imported before a program. */
const now = Date.now
let ahead = Number(process.env.CLOCK_AHEAD ?? 0)
Date.now = () => now() + ahead

process.on('message', ({ command, argument }) => {
  if (command !== 'move') return
  ahead += argument
  process.send({ result: null })
})
