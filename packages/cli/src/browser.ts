/**
 * Opens an address in the person's browser, where there is one.
 */
import { spawn } from 'node:child_process'

/** @returns whether it was tried. That it fails is no failure of ours: the address is printed as well. */
export function openInBrowser(url: string, env: NodeJS.ProcessEnv = process.env): boolean {
  const command = opener(env)
  if (command === undefined) return false
  const [program, ...args] = command
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore', env: desktopOf(env) })
  child.on('error', () => undefined)
  child.unref()
  return true
}

function opener({ DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv): readonly [string, ...string[]] | undefined {
  if (process.platform === 'darwin') return ['open']
  // `start` is a word of cmd.exe, which would take the & of an address for its own.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return (DISPLAY ?? '') !== '' || (WAYLAND_DISPLAY ?? '') !== '' ? ['xdg-open'] : undefined
}

/** What a desktop tells its programs: who and where the person is, the screen, the language, which browser they like. */
const ofTheDesktop = new RegExp(
  `^(?:${[
    'PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\\w+|TZ|TMPDIR|TEMP|TMP',
    'DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_\\w+|DBUS_SESSION_BUS_ADDRESS|DESKTOP_SESSION|KDE_\\w+|GNOME_\\w+|BROWSER',
    'GDK_\\w+|QT_\\w+|MOZ_ENABLE_WAYLAND',
    'WSL\\w*',
    'SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|USERNAME|USERPROFILE|HOMEDRIVE|HOMEPATH',
    'APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES(?:\\(X86\\))?|PROGRAMW6432|COMMONPROGRAMFILES(?:\\(X86\\))?',
  ].join('|')})$`,
  'iu',
)

/** The browser's own environment: passwords, TOTP secrets and keys of the calling one are none of its business. */
function desktopOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => ofTheDesktop.test(name)))
}
