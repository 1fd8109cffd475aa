/**
 * What `startEmulator` takes, as types: every gap of the interface document is an option. The row of each option (default, check,
 * description) is in option-table.ts.
 */
import type { AccountOptions } from './account-options.ts'
import type { CodeChallengeEncoding, Strictness } from '../service/strictness.ts'

/** Where the passcode page appears: at the code exchange (the document) or at the form submission (recordings). */
export type MfaPlace = 'code-exchange' | 'form-submission' | FormerMfaPlace
/** The former name of `code-exchange`. @deprecated It goes with the next minor version. */
export type FormerMfaPlace = 'token-exchange'
/** What a refresh does with the refresh token: a new one and the old one dies; the same again; none in the answer. */
export type Rotation = 'single-use' | 'same' | 'omit'
/**
 * What a spent refresh token gets: refused; refused and its whole family revoked; within `graceSeconds` the same
 * answer again; within `graceSeconds` new tokens with the spent refresh token in them (a service that errs).
 */
export type Reuse = 'refuse' | 'revoke-family' | 'grace' | 'grace-stale'

/** The hidden inputs of the login page, which the service may change at any time. */
export interface HiddenInputsOptions {
  /** New names for `_csrf`, `_phase`, `_process`, `transaction_id`, `cancel`. */
  readonly rename?: Readonly<Record<string, string>>
  /** Further inputs, name and value; they must come back too. */
  readonly extra?: Readonly<Record<string, string>>
  /** They stand inside a `<script type="text/html">` template. */
  readonly inTemplate?: boolean
}

/** What a page shows when a captcha is due: letters in a picture, or a widget of another company's, which nobody can solve here. */
export type CaptchaKind = 'picture' | 'recaptcha' | 'hcaptcha' | 'turnstile'
/** How the list of factors is wrapped: as `data` (recorded), as `factors`, or not at all. */
export type FactorListShape = 'data' | 'factors' | 'bare'
/** What is posted for the code once a passcode was verified: the whole form (the document), or its `transaction_id` alone (recordings). */
export type FormAfterPasscode = 'whole' | 'transaction-id'

/** How the page with the passcode’s field is built. */
export interface PasscodePageOptions {
  /**
   * Where its `_csrf` stands: in a hidden input (default), in a script, or `none` (recorded in 2021). With `none` there is no
   * hidden input at all, and the verification takes the `_csrf` of the login page, or none.
   */
  readonly csrf?: 'input' | 'script' | 'none'
  /** Its inputs stand inside a `<script type="text/html">` template; default with `strictness: 'lenient'` alone. */
  readonly inTemplate?: boolean
  /** Its hidden inputs come twice. */
  readonly duplicates?: boolean
}

/** Whom the firewall challenges, and for how long. */
export interface FirewallOptions {
  /** Requests of one client in a window before it is blocked; default 600. `Infinity` or null leaves the other rules alone. */
  readonly maxRequests?: number | null
  /** Default 60. */
  readonly windowSeconds?: number
  /** Default 900. */
  readonly blockSeconds?: number
}

/** What a token must have been minted over, so that the owner API takes it. A member that is left out doesn't matter. */
export interface MintedByOptions {
  readonly tls?: 'TLSv1.2' | 'TLSv1.3'
  readonly http?: '1.1' | '2'
}

/** Options that are settled once and for all when the emulator starts. */
export interface StartOptions {
  /**
   * Port of the SSO service; 0: any free one.
   *
   * @defaultValue 0
   */
  readonly port?: number
  /**
   * Port of the owner API; 0: any free one.
   *
   * @defaultValue 0
   */
  readonly ownerApiPort?: number
  /**
   * Loopback address or name to listen on.
   *
   * @defaultValue `127.0.0.1`
   */
  readonly host?: string
  /**
   * Allows a `host` that other machines reach. The emulator protects nothing.
   *
   * @defaultValue `false`
   */
  readonly allowRemote?: boolean
  /**
   * The regional instance is another host name on the same port, or another port.
   *
   * @defaultValue `host-name`
   */
  readonly regionalAt?: 'host-name' | 'port'
  /**
   * TLS with a certificate generated at the start; its CA is `emulator.ca`.
   *
   * @defaultValue `false`
   */
  readonly tls?: boolean
  /**
   * With `tls`: HTTP/2 for clients that offer it, HTTP/1.1 for all others.
   *
   * @defaultValue `false`
   */
  readonly http2?: boolean
  /**
   * plain@example.com, mfa@example.com and regional@example.com, each with the credential `correct horse`, unless others are given.
   *
   * @defaultValue the demo accounts
   */
  readonly accounts?: readonly AccountOptions[]
  /**
   * The inspector and the control API under `/_emulator`, for this machine alone.
   *
   * @defaultValue `true`
   */
  readonly inspector?: boolean
}

/** Options that `emulator.change`, the control API and the inspector can change while the emulator runs. */
export interface ChangeableOptions {
  /**
   * Lowest TLS version offered. With `TLSv1.3` a client that keeps to the document can't connect.
   *
   * @defaultValue `TLSv1.2`
   */
  readonly tlsMinVersion?: 'TLSv1.2' | 'TLSv1.3'
  /**
   * Highest TLS version offered. A client that uses 1.3 meets the firewall, unless `strictness` is `lenient`.
   *
   * @defaultValue `TLSv1.3`
   */
  readonly tlsMaxVersion?: 'TLSv1.2' | 'TLSv1.3'
  /**
   * Where the passcode page appears.
   *
   * @defaultValue `code-exchange`
   */
  readonly mfaAt?: MfaPlace
  /**
   * Which derivations of the code challenge are accepted; undefined: `hex-digest`, with `strictness: 'lenient'` `either`.
   *
   * @defaultValue by `strictness`
   */
  readonly codeChallengeEncoding?: CodeChallengeEncoding
  /**
   * What a refresh does with the refresh token.
   *
   * @defaultValue `single-use`
   */
  readonly rotation?: Rotation
  /**
   * What a spent refresh token gets.
   *
   * @defaultValue `refuse`
   */
  readonly reuse?: Reuse
  /**
   * Seconds, for `reuse: 'grace'` and `'grace-stale'`.
   *
   * @defaultValue 60
   */
  readonly graceSeconds?: number
  /**
   * Seconds from the login page to the end of its session.
   *
   * @defaultValue 900
   */
  readonly sessionLifetime?: number
  /**
   * Seconds for which an authorization code is valid.
   *
   * @defaultValue 300
   */
  readonly codeLifetime?: number
  /**
   * Seconds from the passcode page to the last accepted passcode.
   *
   * @defaultValue 300
   */
  readonly passcodeLifetime?: number
  /**
   * Seconds for which a refresh token is valid; `null`: until it is spent.
   *
   * @defaultValue `null`
   */
  readonly refreshTokenLifetime?: number | null
  /**
   * The field `expires_in` of token responses, whatever it may be; `null` leaves it out.
   *
   * @defaultValue 300
   */
  readonly expiresIn?: number | string | null
  /**
   * Seconds for which access and id tokens are valid.
   *
   * @defaultValue 28,800
   */
  readonly accessTokenLifetime?: number
  /**
   * Access tokens are signed JWTs or opaque strings.
   *
   * @defaultValue `jwt`
   */
  readonly accessTokenFormat?: 'jwt' | 'opaque'
  /**
   * The owner API answers 403 to tokens that were minted over another TLS or HTTP version, at a sign-in or refresh; `null`: it
   * takes all. A rule that wants TLS 1.3 keeps the firewall from challenging it.
   *
   * @defaultValue `null`
   */
  readonly mintedBy?: MintedByOptions | null
  /**
   * The hidden inputs of the login page, which the service may change at any time.
   *
   * @defaultValue `{}`
   */
  readonly hiddenInputs?: HiddenInputsOptions
  /**
   * How the page with the passcode’s field is built.
   *
   * @defaultValue `{}`
   */
  readonly passcodePage?: PasscodePageOptions
  /**
   * The login page asks for the e-mail alone, and for the password on a second page.
   *
   * @defaultValue `false`
   */
  readonly identityFirst?: boolean
  /**
   * What accounts with a captcha meet.
   *
   * @defaultValue `picture`
   */
  readonly captchaKind?: CaptchaKind
  /**
   * How the list of factors is wrapped.
   *
   * @defaultValue `data`
   */
  readonly factorList?: FactorListShape
  /**
   * What gives the code once the passcode was verified; anything else leads to the passcode page again.
   *
   * @defaultValue `whole`
   */
  readonly formAfterPasscode?: FormAfterPasscode
  /**
   * Redirect URIs accepted; undefined: `/void/callback` of both instances, with `strictness: 'lenient'` also `/void/callback` of
   * any host and `…://auth/callback` of any scheme.
   *
   * @defaultValue by `strictness`
   */
  readonly redirectUris?: readonly string[]
  /**
   * Further query parameters of the redirect, after `code`, `state`, `issuer`: a `locale`, for one.
   *
   * @defaultValue `{}`
   */
  readonly redirectParameters?: Readonly<Record<string, string>>
  /**
   * Status of the login page that a wrong credential gets.
   *
   * @defaultValue 401
   */
  readonly wrongCredentials?: 200 | 401
  /**
   * Where the login page says what is wrong: in sight and in its script, or in its script's `messages` alone.
   *
   * @defaultValue `page`
   */
  readonly errorTexts?: 'page' | 'script'
  /**
   * Whom the firewall challenges, and for how long; false: nobody.
   *
   * @defaultValue `{ maxRequests: 600, windowSeconds: 60, blockSeconds: 900 }`
   */
  readonly firewall?: FirewallOptions | false
  /**
   * Names of the cookies that every authorize response sets in addition to the session's.
   *
   * @defaultValue `ak_bmsc`, `bm_sz`, `_abck`
   */
  readonly firewallCookies?: readonly string[]
  /**
   * Milliseconds that every answer of the service and the owner API waits.
   *
   * @defaultValue 0
   */
  readonly latency?: number
  /**
   * What is taken: the interface document alone; or what legacy clients do as well, with answers as recorded.
   *
   * @defaultValue `document`
   */
  readonly strictness?: Strictness
  /**
   * Browsers may come (those whose User-Agent matches, if it is a RegExp), so that a person can sign in by hand.
   *
   * @defaultValue `false`
   */
  readonly allowBrowsers?: boolean | RegExp
}

/** How the service behaves. All of it has defaults. */
export interface EmulatorOptions extends StartOptions, ChangeableOptions {}

/** The options that can change while the emulator runs; one that is undefined goes back to its default. */
export type SwitchableOptions = { readonly [Name in keyof ChangeableOptions]: ChangeableOptions[Name] | undefined }

/** An option given as undefined is an option left out. */
export type GivenOptions = { readonly [Name in keyof EmulatorOptions]: EmulatorOptions[Name] | undefined }

/**
 * The options with their defaults, as they are now: `emulator.change` sets them while requests are served, so whoever reads one
 * reads it at the time of the request. `redirectUris` is completed once the addresses are known.
 */
export interface Settings extends Required<
  Omit<EmulatorOptions, 'codeChallengeEncoding' | 'redirectUris' | 'firewall'>
> {
  /** Undefined: as `strictness` has it. */
  readonly codeChallengeEncoding: EmulatorOptions['codeChallengeEncoding']
  readonly redirectUris: readonly string[] | undefined
  readonly firewall: Required<FirewallOptions> | false
}
