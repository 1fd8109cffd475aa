/** Does what the parent asks for, one of these commands after the other, and sends each result back. */
export function answer(commands) {
  process.on('message', ({ command, argument }) => void run(command, argument))
  async function run(command, argument) {
    if (commands[command] === undefined) return
    const result = await commands[command](argument ?? undefined)
    process.send({ result: result ?? null })
  }
}
