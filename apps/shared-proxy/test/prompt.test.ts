import { PassThrough } from 'node:stream'
import { expect, it } from '@jest/globals'
import { openPrompt, type Prompt } from '../src/prompt.ts'

/** A terminal at whose keyboard somebody types. */
function terminal(): { readonly prompt: Prompt; readonly type: (keys: string) => void; readonly shown: () => string } {
  const keyboard = Object.assign(new PassThrough(), { isTTY: true })
  const screen = new PassThrough()
  let shown = ''
  screen.setEncoding('utf8').on('data', (text: string) => {
    shown += text
  })
  return { prompt: openPrompt(keyboard, screen), type: (keys) => void keyboard.write(keys), shown: () => shown }
}

it('shows a question and what is typed, but nothing of a secret answer', async () => {
  const { prompt, type, shown } = terminal()
  const account = prompt.ask('Account: ')
  type('ann\r')
  expect(await account).toBe('ann')
  const password = prompt.askSecretly('Password: ')
  type('correct hors\u007Fse\r')
  expect(await password).toBe('correct horse')
  const device = prompt.ask('Device: ')
  type('2\r')
  expect(await device).toBe('2')
  prompt.close()

  for (const text of ['Account: ', 'ann', 'Password: ', 'Device: ', '2']) expect(shown()).toContain(text)
  expect(shown()).not.toMatch(/cor|hor|se/u)
})
