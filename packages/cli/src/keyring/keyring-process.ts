/**
 * A process that asks the system's keyring one thing and ends: Secret Service, Keychain or Credential Manager.
 *
 * It is a process of its own because the library may wait for ever, without giving way, for a keyring that does not answer;
 * only a process can be ended then. What it is asked stands on its standard input, so that no key is in a list of processes.
 */
import { text } from 'node:stream/consumers'
import type { KeyringAnswer, KeyringQuestion } from './keyring.ts'

const service = 'owner-sso'

/** Linux has a second place, in the kernel, which a restart of the machine empties: a key must not end up there. */
const options = { linux: { store: 'secret-service' } } as const

async function answer({ entry: name, key }: KeyringQuestion): Promise<KeyringAnswer> {
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring')
    const entry = new AsyncEntry(service, name, options)
    if (key !== undefined) await entry.setPassword(key)
    return { key: (await entry.getPassword()) ?? undefined }
  } catch (error) {
    return { error: error instanceof Error ? error.message : 'unknown' }
  }
}

async function main(): Promise<void> {
  const question: KeyringQuestion = JSON.parse(await text(process.stdin))
  process.stdout.write(JSON.stringify(await answer(question)))
}

void main()
