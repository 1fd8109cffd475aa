/**
 * The words that a recording shows. What is made of anything else is masked: a list of what is harmless, not of what is
 * secret.
 */

const knownWords = new Set(
  `
  a abck abort about accept accepted access account accounts action activated active add addeventlistener address
  addresses adjacent adjacenthtml after afterend again age agent agree ak alert alg alive all allowed already also
  america an and another answer any api app append apple application approved are aria arrow article as asia aside asks
  async at attempt attempts attention attribute attributes aud auth authenticate authentication authenticator
  authorization authorize authorized autocomplete autofocus automated available await axios b back backup backupcodes
  bad be bearer because been before beforeend begin best between block blocked bm bmsc body bot both bottom br browser
  browser's browsers button by bye cache call callback called can can't cancel cancelled cannot canvas captcha care case
  catch center cf ch challenge challengeid changed character characters charcode charset check checkbox checked checking
  checks children china circle class clear click client close closed code codes color cols column complete component
  compress concat confirm connect const contact content continue control cookie cookies copy could couldn't create
  created credential credentials crossorigin csrf ctrl curl current customer d dart dashboard data date day days de
  deactivated dead decode default defer deflate delete denied deny describedby description desktop dest detail details device
  devices did didn't different digit digits disabled dispatch display div do doctype document does doesn't don don't
  done down due e each edit eight either element else em email emails empty emulated emulator en enable enabled enabling
  encode encoded encoding enctype end ended english enter entered enterprise equal equiv err error errors es etag europe
  event exceed exceeded execute exist exists exp expected expired expires expiring explicit export extra factor factorid
  factors fail failed false family favicon fetch field fields fieldset file fill filter final finally find first five
  flagged flow flows follow following font footer for forbidden foreach forget forgot form format formnovalidate forms
  forwarded found four fr frame french from function g gateway gb german get give given go gone got grace grant granted
  grecaptcha gzip h h1 h2 h3 h4 happened has have haven't hcaptcha head header headers heading hello help here hidden
  hint home hour hours however hr href html http https human i iat icon id identities identity if iframe illegal image
  img import in inactive incident incorrect incorrectly information init initial inline innerhtml innertext input
  inputmode inputs insecure insert installed instanceof integrity internal interruption into invalid is isn't iss issue
  issuer it item its itself java javascript join js json just jwk jwks jwt keep key kid known label labelledby lang
  language last later leave left legacy legend length let let's letter letters level levels li libcurl limit line link
  list listed listener live loading locale locales location lock locked log login logout made mail main maintenance manifest
  many map match matched matches max maximum maxlength may me media message messages meta method mfa min minlength
  minute minutes mismatch missing mobile mode modified module moment month more most multipart multiple must my name
  names native nav navigator need needs network never new next nine no node nofollow nonce none noscript nosniff not
  note notice notification novalidate null number numbers numeric oauth oauth2 object of off offline okhttp ol on once
  onclick one onload only onsubmit oops open opened openid optgroup option options or order origin other our out
  outerhtml owner ownerapi p page pages param parameter parameters pardon parse pass passcode passcodeid passcodes
  password paste path pattern people perl permission person phase phone php pkce place placeholder plain platform please
  policy polite possible post posted powered pragma pre preference preferences prevent previous print privacy private
  problem proceed process profile program promise protected protection provide provided provider proxy public push put
  px python queries query queryselector queryselectorall quot rate raw ray re reached read real reason recaptcha
  received recently recognised recognized rect redirect redirection redirects ref reference referer refresh refused
  region regional regionals register registered reject rejected rel reload remaining remember remove removed render
  repeated replace replay replayed request requested requesting requests require required requires resend reset resolve
  resource response retry return revalidate right robot robots role rotate rotated rotation rows ruby s256 safe safety
  same sameorigin saved say says scale scope screen script sec seconds secs section secure security see select selector
  sell send sending sent server service session sessions set settings seven several shortly show shown shows sid sign
  signed signin since single site sitekey six size slow small so software some something soon sorry source span spanish
  spent split src sso stale start started state states status step still stop stopped store strict stringify stroke
  strong style stylesheet sub submission submit submitted succeeded success such support sure suspended suspicious svg
  system sz tabindex table tag take tap target tbody td team template temporarily temporary ten text textarea
  textcontent th than thank thanks that the thead their them theme then there these they this three throw time timeout
  title to today token tokenexchange tokens tomorrow too top totp touch tr traffic trans transaction transform tried
  trim true try trying turn turnstile twice two tx txn typ type typed typeof u ua ui ul unable unauthorized unavailable
  undefined undici unexpected unfortunately united unknown unlock unrecognised unrecognized unsuccessful unsupported
  until unusual up update updated upgrade uri uris url urlencoded us use used user username using utf uuid v1 v2 v3 v4
  valid validate validation value var vary verification verified verifier verify verifying version very via view viewbox
  viewport visit void wait want warning was wasn't way we web website week weight welcome went were weren't wget what
  when where whether which while who width will window with without won't word words work would write wrong www x xml
  xmlns xss y year yes you you're you've your yourself z zero zstd
  `
    .trim()
    .split(/\s+/u),
)

/** Whether a text is made of known words, numbers of one or two digits, and signs. */
export function isKnown(text: string): boolean {
  return firstUnknown(text) === -1
}

/** Where the first letter or digit stands that belongs to no known word; -1 if there is none. An e-mail address never is. */
export function firstUnknown(text: string): number {
  const at = text.search(/(?<=[^\s@])@(?=[^\s@])/u)
  if (at !== -1) return beginning(text, at)
  for (const { 0: run, index } of text.matchAll(runPattern)) if (!isKnownRun(run)) return index
  return -1
}

/** Where what stands before the sign of an address begins. */
function beginning(text: string, at: number): number {
  let start = at
  while (start > 0 && !/[\s@]/u.test(text.charAt(start - 1))) start -= 1
  return start
}

/** Letters and digits in a row. Characters without a meaning of their own count, so that they are never shown. */
const runPattern =
  /[\p{L}\p{M}\p{N}\p{Cf}\p{Cn}\p{Co}\p{Cs}](?:[\p{L}\p{M}\p{N}\p{Cf}\p{Cn}\p{Co}\p{Cs}]|['’](?=\p{L}))*/gu
const camelCaseBoundary = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

function isKnownRun(run: string): boolean {
  if (isWord(run) || /^\d{1,2}$/u.test(run)) return true
  return run.split(camelCaseBoundary).every((word) => word.length > 1 && isWord(word))
}

function isWord(run: string): boolean {
  return knownWords.has(run.toLowerCase().replaceAll('’', "'"))
}
