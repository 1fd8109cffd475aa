/** A process that runs `writeUntilKilled` over a store, and is killed after some acknowledgements. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * @param program - prints each version that was acknowledged to it, one a line
 * @returns the last one of them
 */
export async function killedWriter(program: string, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, ['--no-warnings', program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const late = setTimeout(() => child.kill('SIGKILL'), 60_000)
  let text = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    text += String(chunk)
    if (text.split('\n').length > 20 && child.signalCode === null) child.kill('SIGKILL')
  }
  clearTimeout(late)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return Number(text.trimEnd().split('\n').at(-1))
}
