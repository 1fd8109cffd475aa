/**
 * A sign-in in any browser, on any machine: the person opens an address there, and pastes the one that they end on.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import { SsoError } from '@owner-sso/core'
import { CommandError, exitCodes, usageError } from '../failure/command-error.ts'
import { stopped } from '../failure/interruption.ts'
import type { LoginVoice } from './login-voice.ts'
import { printNote } from '../terminal/output.ts'
import { askText, canAsk } from '../terminal/prompts.ts'
import type { Settings } from '../settings/settings.ts'
import { desktopOf, hasDisplay } from '../machine/desktop.ts'
import { type AuthorizationLink, refuseCancelled } from './window-sign-in.ts'

/** So often a wrong address may be pasted; none of them is sent anywhere. */
const tries = 3

/** What a person does there. An address of an app's own scheme is one that a browser can't open, or hands to that app. */
function instructions(redirectUri: string): string[] {
  const isPage = /^https?:/u.test(redirectUri)
  return [
    isPage
      ? `Sign in there. You end up on a page that does not exist, …${new URL(redirectUri).pathname}?code=…`
      : `Sign in there. Your browser is then sent to ${redirectUri}?code=…, which it can’t open.`,
    isPage
      ? 'Copy its whole address from the address bar, and paste it here.'
      : 'Its developer tools (F12, Console) say that it failed to launch, and show the address. Paste that whole line here.',
    'It works once, for a few minutes.',
  ]
}

const wrongAddress = 'This is not the address that this sign-in ends on. Nothing was sent.'

/**
 * @param redeem - what is done with the address; its failure is this call's
 * @throws CommandError where no usable address is pasted
 */
export async function redeemPasted<Result>(
  { url, request }: AuthorizationLink,
  redeem: (address: string) => Promise<Result>,
  settings: Settings,
  voice: LoginVoice,
): Promise<Result> {
  voice.tell(openInBrowser(url) ? 'Your browser opens this address:' : 'Open this address in your browser:')
  printNote('', url, '')
  voice.tell(...instructions(request.redirectUri))
  for (let attempt = 1; ; attempt += 1) {
    const address = (await pastedAddress(settings)).trim()
    refuseCancelled(address, request.redirectUri, '--paste')
    try {
      return await redeem(address)
    } catch (error) {
      if (!(error instanceof SsoError) || error.requestSent || stopped.aborted) throw error
      if (!canAsk(settings) || attempt === tries) {
        const next = 'Run owner-sso login --paste again, and paste the address of the page that you end up on.'
        throw new CommandError(exitCodes.signInAgain, wrongAddress, next)
      }
      voice.problem(wrongAddress)
    }
  }
}

/** A program at the other end of standard input writes one line. */
async function pastedAddress(settings: Settings): Promise<string> {
  if (canAsk(settings)) return askText('Address')
  const lines = createInterface({ input: process.stdin, signal: stopped })
  for await (const line of lines) {
    lines.close()
    return line
  }
  throw usageError(
    'No address was pasted.',
    'Run owner-sso login --paste in a terminal, or send the address to standard input.',
  )
}

/** @returns whether it was tried. That it fails is no failure of ours: the address is printed as well. */
function openInBrowser(url: string): boolean {
  const command = opener(process.env)
  if (command === undefined) return false
  const [program, ...args] = command
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore', env: desktopOf(process.env) })
  child.on('error', () => undefined)
  child.unref()
  return true
}

function opener(env: NodeJS.ProcessEnv): readonly [string, ...string[]] | undefined {
  if (process.platform === 'darwin') return ['open']
  // `start` is a word of cmd.exe, which would take the & of an address for its own.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return hasDisplay(env) ? ['xdg-open'] : undefined
}
