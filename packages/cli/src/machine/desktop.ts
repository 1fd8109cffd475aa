/**
 * The desktop of the person who runs the command: whether there is one, and what it tells its programs.
 */

export function hasDisplay({ DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv): boolean {
  if (process.platform === 'darwin' || process.platform === 'win32') return true
  return (DISPLAY ?? '') !== '' || (WAYLAND_DISPLAY ?? '') !== ''
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
export function desktopOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => ofTheDesktop.test(name)))
}
