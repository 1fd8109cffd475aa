/**
 * The manual: each command with what it takes and what its help says, in the order of the help. Their work is elsewhere, and
 * loaded by a call of the command alone.
 */
import { type Call, command } from './command.ts'
import { flag, type OptionsOf, value } from '../options/option.ts'

export const login = command({
  name: 'login',
  summary: 'sign in, and keep the tokens',
  description:
    'Signs an account in and stores its tokens. Asks for what is missing: e-mail, password, second factor, ' +
    'passcode. Nothing is stored before the whole sign-in has succeeded, and the password never is. Passwords and ' +
    'passcodes are never options: everybody on a machine can read the list of processes.',
  options: {
    credentialFile: value('<path>', 'read the password from a file (- is standard input)'),
    totpSecretFile: value('<path>', 'make passcodes from the secret in a file (base32, or an otpauth:// address)'),
    factor: value('<name>', 'which second factor the passcode is from, by its name or id'),
    browser: flag('sign in on the service’s own page, in a browser window that closes by itself'),
    paste: flag('sign in there in any browser, then paste the address that you end up on'),
  },
  examples: [
    ['owner-sso login', 'asks for everything'],
    ['owner-sso login --account ann@example.com --credential-file - < password.txt', 'without a terminal'],
    ['owner-sso login --browser', 'for an account that gets a captcha'],
    ['owner-sso login --paste', 'the same, with the browser of another machine'],
  ],
})

export const token = command({
  name: 'token',
  summary: 'print a valid access token',
  description:
    'Prints an access token that the owner API accepts now, and nothing else. It comes from the store; an old one ' +
    'is refreshed first, once, however many calls ask at the same time.',
  options: {
    minValidity: value('<time>', 'one that lives at least so long: 900, 15m or 2h'),
  },
  examples: [
    ['curl -H "Authorization: Bearer $(owner-sso token)" "$OWNER_SSO_API_URL/api/1/products"', 'call the owner API'],
    ['owner-sso token --min-validity 30m', 'for a program that runs half an hour'],
    ['owner-sso token --json', 'with expires_at, for a program that runs a command for its token'],
  ],
})

export const status = command({
  name: 'status',
  summary: 'show every account: state, time left, region',
  description:
    'Shows the accounts of the store, or the one that --account names: whether its access token is valid and for ' +
    'how long, the region that issued it, the last refresh and the next, the last failure, and the store. Sends ' +
    'nothing. With --account, the exit code is 3 if only a new sign-in helps.',
  options: {
    watch: flag('draw it again each second, until Ctrl-C; needs a terminal'),
  },
  examples: [
    ['owner-sso status', 'a table'],
    ['owner-sso status --watch', 'the same, kept up to date'],
    ['owner-sso status --json | jq ".accounts[].state"', 'for programs'],
  ],
})

export const refresh = command({
  name: 'refresh',
  summary: 'refresh the tokens now',
  description:
    'Replaces the access token, whatever its age. Rarely needed: owner-sso token refreshes by itself. Twice within ' +
    'a minute sends only one request.',
  options: {},
  examples: [['owner-sso refresh --account ann@example.com', 'one account']],
})

export const logout = command({
  name: 'logout',
  summary: 'sign out, and forget the tokens',
  description:
    'Removes the tokens of an account from the store, older versions included. A refresh that is under way ' +
    'elsewhere can’t bring them back. The service is not told: it takes the tokens until they expire.',
  options: {},
  examples: [['owner-sso logout --account ann@example.com', 'one account']],
})

export const accounts = command({
  name: 'accounts',
  summary: 'list the accounts of the store',
  description: 'Prints the names of all accounts that are signed in or have to sign in again, one per line.',
  options: {},
  examples: [['owner-sso accounts | xargs -n1 owner-sso refresh --account', 'refresh all']],
})

export const importTokens = command({
  name: 'import',
  args: '[file]',
  summary: 'take over the tokens of another program',
  description:
    'Reads a refresh token, a token response, what owner-sso export wrote, or the cache of another client: JSON ' +
    'keyed by account. Shows what it found, without a secret, and asks before it stores. Sends nothing: an access token ' +
    'beside it is used while it lives, then the refresh token. No other program may use the tokens from then on. Without a file, or for -, it reads standard ' +
    'input.',
  options: {
    dryRun: flag('only show what would be imported'),
    yes: flag('store without asking'),
    replace: flag('end the sign-in that an account has here'),
    check: flag('make one refresh of each account, to see that its tokens work'),
  },
  examples: [
    ['owner-sso import cache.json', 'all accounts of another client'],
    ['owner-sso import --account ann@example.com --yes < refresh-token.txt', 'a refresh token alone'],
  ],
})

export const exportTokens = command({
  name: 'export',
  summary: 'write refresh tokens into a file, sealed',
  description:
    'Writes the refresh token of an account, for owner-sso import on another machine or for another program. It is ' +
    'sealed with the first key of OWNER_SSO_ENCRYPTION_KEY, or with a passphrase that is asked for. Afterwards ' +
    'only one of the two may use it.',
  options: {
    file: value('<path>', 'write a new file that only you can read (default: standard output)'),
    all: flag('all accounts of the store'),
    plainTextTokens: flag('do not seal: whoever reads the output is signed in'),
  },
  examples: [['owner-sso export --account ann@example.com --file ann.json', 'asks for a passphrase']],
})

export const copy = command({
  name: 'copy',
  args: '<from> <to>',
  summary: 'copy all accounts into another store',
  description:
    'Copies the newest record of every account into another store, and what its processes share: a block of the ' +
    'firewall, the programs of the broker. Newer records in the target stay. First stop everything that uses the ' +
    'old store: a token that is refreshed there afterwards is dead in the copy. A dash stands for the store of ' +
    'OWNER_SSO_STORE or the config file.',
  options: {
    fromPlain: flag('read the first store unencrypted, although OWNER_SSO_ENCRYPTION_KEY is set'),
    toPlain: flag('leave the second store unencrypted'),
  },
  examples: [
    ['owner-sso copy file:tokens redis://127.0.0.1:6379', 'from a folder into Redis'],
    ['owner-sso copy --from-plain file:tokens file:sealed', 'encrypt what was plain'],
  ],
})

export const rekey = command({
  name: 'rekey',
  summary: 'seal the store, or change its key',
  description:
    'Seals every record with the first key of OWNER_SSO_ENCRYPTION_KEY, where it is, while everything goes on: plain ' +
    'ones, and those under another key. To change the key, set OLD_KEY,NEW_KEY everywhere first, then NEW_KEY,OLD_KEY everywhere, then run this command. Says when the ' +
    'old key may go.',
  options: {},
  examples: [
    ['owner-sso rekey', 'after the first key was set: seals what was plain'],
    ['OWNER_SSO_ENCRYPTION_KEY=$NEW_KEY,$OLD_KEY owner-sso rekey', 'changes the key'],
  ],
})

export const stores = command({
  name: 'stores',
  summary: 'list the kinds of stores, and which is in use',
  description: 'Lists where token sets can live, how each is addressed, and which one this call would use.',
  options: {},
  examples: [['owner-sso stores', 'a table']],
})

export const keep = command({
  name: 'keep',
  summary: 'keep all accounts signed in',
  description:
    'Runs until Ctrl-C or SIGTERM. Looks at all accounts of the store again and again, and refreshes those whose ' +
    'session soon ends because nobody calls: the soonest first, at an even pace. Several may run, on several ' +
    'machines: one works at a time. A time is a number with its unit: 90s, 15m, 2h, 30d. --once makes one sweep ' +
    'and ends, for cron.',
  options: {
    within: value('<time>', 'refresh sessions that end within this time (default: 2h)'),
    every: value('<time>', 'from one sweep to the next; at most a quarter of --within (default: an eighth of it)'),
    refreshTokenLifetime: value('<time>', 'how long a refresh token lives unused, if you know it'),
    once: flag('one sweep, without pauses between its refreshes'),
  },
  examples: [
    ['owner-sso keep', 'in a service: see docs/guides/unattended-scripts.md'],
    ['owner-sso keep --within 2d --refresh-token-lifetime 30d', 'far fewer refreshes'],
    ['owner-sso keep --once --within 6h', 'in a crontab, every three hours'],
  ],
})

export const proxy = command({
  name: 'proxy',
  summary: 'call the owner API through a local address',
  description:
    'Listens on 127.0.0.1 and forwards calls of /api/1/ to the owner API, with the account’s access token. Prints ' +
    'its address. Web pages of other sites are refused; every program on this machine may call. Ctrl-C ends it.',
  options: {
    port: value('<number>', 'port to listen on (default: any free one)'),
  },
  examples: [['owner-sso proxy --port 8080 & curl http://127.0.0.1:8080/api/1/products', 'no token in sight']],
})

export const broker = command({
  name: 'broker',
  args: '[what...]',
  summary: 'hand tokens to other programs, from one sign-in',
  description:
    'Alone, it listens and hands access tokens to programs: on a Unix socket that only you can open, or with ' +
    '--port on 127.0.0.1, for programs with a key, and with a status page. invite NAME lets a program in and ' +
    'prints its refresh token, once. list, rotate NAME and revoke NAME are about those programs. code prints a ' +
    'code for the status page. run -- PROGRAM starts a program that can’t be pointed at a broker: its refreshes are ' +
    'answered here, all else that it sends goes where it is meant to.',
  options: {
    // Where it listens.
    port: value('<number>', 'listen on a port, for programs that were invited'),
    host: value('<address>', 'with --port: where to listen (default: 127.0.0.1; another one needs TLS)'),
    socket: value('<path>', 'the Unix socket (default: one that only you can open)'),
    tlsCert: value('<path>', 'PEM file of the certificate'),
    tlsKey: value('<path>', 'PEM file of its key'),
    behindTlsProxy: flag('a proxy with TLS is in front, and nobody else reaches this port'),
    // Where people and programs find it.
    publicUrl: value('<url>', 'the address that people and programs use, if it is another one'),
    // What it does for them.
    withProxy: flag('forward calls of the owner API as well, for programs invited with --scope proxy'),
    rotate: flag('give programs another refresh token with each use'),
    audit: value('<path>', 'append who got which token, a line of JSON each (- is standard error)'),
    // Whom it tells that an account has to sign in again.
    alertWebhook: value('<url>', 'tell there if an account has to sign in again'),
    alertMqtt: value('<url>', 'tell this MQTT server then'),
    alertTopic: value('<topic>', 'below which MQTT topic (default: owner-sso)'),
    // What a program may do.
    scope: value('<name>', 'invite: token, proxy, or both with a comma (default: token)'),
    expires: value('<when>', 'invite: for how long (30d, 12h), or until a date (2030-01-31)'),
    callsPerMinute: value('<number>', 'invite: how often it may call, each broker counting for itself (default: 600)'),
    // How a program comes to its new token.
    grace: value('<seconds>', 'rotate: how long the former refresh token still works (default: 0)'),
  },
  examples: [
    ['owner-sso broker', 'then: curl --unix-socket ~/.config/owner-sso/broker.sock http://broker/token'],
    ['owner-sso broker --port 8700', 'with a status page'],
    ['owner-sso broker invite heating --expires 365d', 'prints its refresh token'],
    ['owner-sso broker invite home --scope proxy --account ann@example.com,bob@example.com', 'for two accounts'],
    ['owner-sso broker revoke heating', 'it gets nothing any more'],
    ['owner-sso broker run -- python3 heating.py', 'a program that knows only the service’s own address'],
  ],
})

export const setup = command({
  name: 'setup',
  summary: 'ask for the settings, try them, write them down',
  description:
    'Asks for what a first use needs: the addresses of the SSO service and the owner API, other instances, the ' +
    'store and the account. Proposes what is set already, and tries each answer at once. Then it writes the config ' +
    'file; the former one stays beside it.',
  options: {},
  examples: [['owner-sso setup && owner-sso login', 'a first use']],
})

export const doctor = command({
  name: 'doctor',
  summary: 'find problems, and say how to fix them',
  description:
    'Checks the settings, the store and its file modes, whether the SSO service and the owner API can be reached, ' +
    'the TLS version, and this machine’s clock. Makes no login: one request to each of the two. --live also makes ' +
    'one refresh and one call of the owner API, once you agree: it shows whether a token that is minted here is ' +
    'accepted, and over which transport. --find-transport tries one transport after the other, with one refresh each, ' +
    'until the owner API accepts what it mints, and keeps that one in the config file.',
  options: {
    live: flag('make one refresh and one call of the owner API, after asking'),
    findTransport: flag('with --live: try the transports until the owner API accepts a token'),
    yes: flag('agree to --live'),
  },
  examinesSettings: true,
  examples: [
    ['owner-sso doctor --json', 'for a bug report; there are no secrets in it'],
    ['owner-sso doctor --live --account ann@example.com', 'if the owner API answers 403'],
  ],
})

export const emulator = command({
  name: 'emulator',
  args: '[options...]',
  summary: 'run the service on this machine, to try things out',
  description: '',
  options: {},
  passesOptionsOn: true,
  examples: [],
})

export const completion = command({
  name: 'completion',
  args: '<shell>',
  summary: 'print a completion script for a shell',
  description: 'Prints a script that completes commands, options and account names.',
  options: {},
  examples: [
    ['source <(owner-sso completion bash)', 'in ~/.bashrc'],
    ['source <(owner-sso completion zsh)', 'in ~/.zshrc, after compinit'],
    ['owner-sso completion fish > ~/.config/fish/completions/owner-sso.fish', ''],
    ['owner-sso completion powershell | Out-String | Invoke-Expression', 'in $PROFILE'],
  ],
})

export type LoginFlags = OptionsOf<(typeof login)['options']>
export type ImportFlags = OptionsOf<(typeof importTokens)['options']>
export type CopyFlags = OptionsOf<(typeof copy)['options']>
export type KeepFlags = OptionsOf<(typeof keep)['options']>
export type BrokerCall = Call<typeof broker>
export type BrokerFlags = BrokerCall['options']
