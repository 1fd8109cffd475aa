/** Time limits in a process that has nothing else to do: nothing but the limit wakes its event loop. */
import { spawn } from 'node:child_process'
import { describe, expect, it } from '@jest/globals'

/** What a program on the built package prints until it ends, or 20 seconds are over. */
function printed(program: string): Promise<string> {
  const source = `import { createServer } from 'node:net'\nimport { withTimeLimit } from '@owner-sso/token-manager'\n${program}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    timeout: 20_000,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  return new Promise((resolve) => child.once('close', (code, signal) => resolve(`${output}${signal ?? code}`)))
}

const endedByTheLimit = `
  const end = await withTimeLimit(300, (signal) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })).catch(({ name }) => name)
  process.stdout.write(end + ' ')`

describe('a time limit in an idle process', () => {
  it('is over in time, where waiting for it is all that the process does', async () => {
    expect(await printed(endedByTheLimit)).toBe('TimeoutError 0')
  })

  it('is over in time, where a server waits for connections that never come', async () => {
    const program = `const server = createServer().listen(0, '127.0.0.1')\n${endedByTheLimit}\nserver.close()`
    expect(await printed(program)).toBe('TimeoutError 0')
  })

  it('does not keep the process once the work is done, or has failed', async () => {
    const program = `
      process.stdout.write(await withTimeLimit(3_600_000, async () => 'done '))
      await withTimeLimit(3_600_000, async () => { throw new Error('failed ') }).catch(({ message }) => process.stdout.write(message))`
    expect(await printed(program)).toBe('done failed 0')
  })
})
