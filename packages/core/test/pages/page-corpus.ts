/**
 * Pages as a firewall and as the service show them, made from small templates: what one may never be mistaken for the other.
 */

/** 66 challenge pages: their wordings crossed with their wrappings. */
export function challengePages(): string[] {
  const references = ['18.2d351ab8.1557333295.a4e16ab', '30.8f0c117.1795311403.1b2', '97.55a1d33e.1700000000.dead']
  const denied = references.flatMap((reference) => [
    `<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD><BODY><H1>Access Denied</H1>You don't have permission to access "http&#58;&#47;&#47;auth&#46;example&#46;com" on this server.<P>Reference&#32;&#35;${reference}</BODY></HTML>`,
    `<html><body><p>Something went wrong.</p><p>Reference #${reference}</p></body></html>`,
    `<title>Access denied</title><p>Your request was refused. Reference&#32;&#35;${reference}`,
    `<!doctype html><html lang="en"><head><title>ACCESS DENIED</title><style>b{}</style></head><body><b>Error</b></body></html>`,
  ])
  const scripts = [
    '<script src="/_sec/cp_challenge/ak-challenge-3-1.js"></script>',
    '<script>window.location.reload()</script>',
    '<script>var a=1;document.cookie="c="+a;</script><script src="/x.js" async defer></script>',
    '<noscript>Please turn on scripts</noscript><script src="/149e9513-01fa/ips.js?tkrm_alpekz_s1.3=1"></script>',
    '<div id="sec-if-container"></div><script type="text/javascript">(function(){var u=1})()</script>',
    '<form id="c" method="post" action="/c"><input type="hidden" name="md" value="x"></form><script>document.forms[0].submit()</script>',
  ]
  const scriptOnly = scripts.flatMap((script) => [
    `<html><head></head><body>${script}</body></html>`,
    `<!DOCTYPE html><html><head><meta charset="utf-8">${script}</head><body></body></html>`,
    `<html><head><meta http-equiv="refresh" content="5"></head><body><p>One moment…</p>${script}</body></html>`,
    script,
  ])
  const titles = [
    'Attention Required!',
    'Just a moment...',
    'Request blocked',
    'Request Rejected',
    'Security check',
    'Security Challenge',
    'Are you human?',
    'Human Verification',
    'Pardon Our Interruption',
    'Challenge Page',
    'Bot detection',
  ]
  const titled = titles.map(
    (title) =>
      `<html><head><title>${title}</title></head><body><h1>${title}</h1><script src="/a.js"></script></body></html>`,
  )
  const texts = [
    'Please enable JavaScript and cookies to continue',
    'Enable JavaScript to view this page.',
    'This page requires JavaScript in a full browser.',
    'Checking your browser before accessing the site.',
    'Verifying you are human. This may take a few seconds.',
    'Please verify that you are a human',
    'We have detected unusual traffic from your network',
    'Your client sends automated requests',
    'Request unsuccessful. Incident ID: 877000520099',
    'You don’t have permission to access this resource',
    'Your IP: 10.0.0.1 · Ray ID: 8a1b2c3d',
  ]
  const worded = texts.flatMap((text) => [
    `<html><head><title>Notice</title></head><body><p>${text}</p></body></html>`,
    `<html><head><title>auth.example.com</title></head><body><div class="m"><h2>${text}</h2></div><script>1</script></body></html>`,
  ])
  return [...denied, ...scriptOnly, ...titled, ...worded]
}

/** More than 200 pages of the service's own. */
export function servicePages(): { page: string; status: number }[] {
  const noise = [
    '',
    '<noscript>Please enable JavaScript to continue.</noscript>',
    '<script>var messages = {"blocked":"Access Denied","robot":"Are you human?"};</script>',
    '<script src="/app.js"></script><script src="/challenge.js"></script>',
    '<!-- Access Denied Reference #18.2d351ab8 --><script>if(0){document.title="Access Denied"}</script>',
    '<footer>This site is protected by reCAPTCHA. Reference number of this page: 18</footer>',
    '<p>We noticed unusual activity on your account. Contact support.</p>',
  ]
  const login =
    '<form method="post"><input type="hidden" name="_csrf" value="x"><input name="identity"><input type="password" name="credential"></form>'
  const bodies: [string, number][] = [
    [`<title>Sign in</title><h1>Sign in</h1>${login}`, 200],
    [`<title></title>${login}`, 200],
    [login, 200],
    [`<title>Sign in</title><p role="alert">We could not sign you in</p>${login}`, 401],
    [`<title>Sign in</title><p>Your account has been locked</p>${login}`, 200],
    [
      `<title>Sign in</title><p>Captcha does not match</p>${login.replace('</form>', '<input name="captcha"></form>')}`,
      200,
    ],
    [`<title>Account locked</title><h1>Your account has been locked</h1><p>Reset your password to unlock it.</p>`, 200],
    [`<title>Sign in</title><h1>Recaptcha is required</h1>`, 200],
    [`<title>Passcode</title><form><input type="hidden" name="_csrf" value="y"><input name="passcode"></form>`, 200],
    [`<form><input type="hidden" name="_csrf" value="y"><input name="passcode"></form>`, 200],
    [
      `<title>Passcode</title><script type="text/html"><form><input name="_csrf" value="y" type="hidden"><input name="passcode"></form></script>`,
      200,
    ],
    [`<script type="text/html"><input name="passcode"><input name="_csrf" value="y"></script>`, 401],
    [`<title>Backup code</title><form><input name="backup_code"></form>`, 200],
    [`<title>Error</title><h1>403</h1><p>The form was not filled in on our page.</p>`, 403],
    [`<title>Error</title><h1>Bad request</h1><p>A parameter is missing.</p>`, 400],
    [
      `<title>503 Service Temporarily Unavailable</title><center><h1>503 Service Temporarily Unavailable</h1></center><hr>nginx`,
      503,
    ],
    [`<title>Internal Server Error</title><h1>Internal Server Error</h1><p>Try again later.</p>`, 500],
    [`<title>Maintenance</title><p>We are working on it and will be back soon.</p>`, 503],
    [`<title>Sign in – Owner</title><main>${'<div><div><div>'.repeat(20)}${login}</main>`, 200],
    [`<html lang="de"><head><title>Anmelden</title></head><body>${login}</body></html>`, 200],
    [`<title>登录</title>${login}`, 200],
    [
      `<title>Redirecting</title><p>You are being redirected to your application. Follow the link if nothing happens.</p>`,
      200,
    ],
    [`<title>Not Found</title><h1>Not Found</h1><p>There is nothing here.</p>`, 404],
    [`<title>Privacy</title><p>We check your browser settings and use automated decisions nowhere.</p>`, 200],
    [`<p>A page of the service without a title or a script, that says only this.</p>`, 200],
    [`<title>Sign in</title><form><input name="identity"></form>`, 200],
    [`<title>Session expired</title><p>Your session has expired. Open the login page again.</p>`, 403],
    [`<title>Too many passcodes</title><p>Too many wrong passcodes. Sign in again.</p>`, 400],
    [
      `<title>Device verification</title><form><input name="passcode"></form><p>Verify you are human? No: just type it.</p>`,
      200,
    ],
  ]
  return bodies.flatMap(([body, status]) => noise.map((each) => ({ page: `<!doctype html>${body}${each}`, status })))
}
