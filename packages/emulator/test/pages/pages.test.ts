/** The pages as a person or a parser meets them: what stands between `<main>` and `</main>`. */
import { expect, it } from '@jest/globals'
import { useEmulator } from '../../src/jest.ts'
import { Client } from '../client.ts'

const emulator = useEmulator({ mfaAt: 'form-submission' })

/** Without what is random, and without ports and scripts. */
function settled(page: string): string {
  const [, main = ''] = /<main>(.*)<\/main>/su.exec(page) ?? []
  return main
    .replaceAll(/(<script>)(?!var).*?(<\/script>)/gsu, '$1…$2')
    .replaceAll(/((?:_csrf|transaction_id)" value="|(?:_csrf|transaction_id) = ")[^"]+/gu, '$1RANDOM')
    .replaceAll(/action="[^"]*"/gu, 'action="…"')
    .replaceAll(/\n\s+/gu, '\n')
}

it.each(['document', 'lenient'] as const)('the login page with strictness %s', async (strictness) => {
  emulator.change({ strictness })
  const { page } = await new Client(emulator).open()
  expect(settled(page.text)).toMatchSnapshot()
})

it.each(['document', 'lenient'] as const)('the passcode page with strictness %s', async (strictness) => {
  emulator.change({ strictness })
  const { answer } = await new Client(emulator).authorize('mfa@example.com')
  expect(settled(answer.text)).toMatchSnapshot()
})
