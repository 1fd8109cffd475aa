/**
 * Endpoints 1 and 2 of the description: the login page and the submitted form.
 */
import { authorizeEndpointPath } from '../service/authorize-responses.ts'
import { isLenient } from '../service/strictness.ts'
import { authorizeParameters, parameters } from './components.ts'
import { ref, type Described, type Part } from './part.ts'
import { challenge, content, mixedResponse, pageResponse, redirectResponse, response, unreadable } from './responses.ts'

const queryParameters = authorizeParameters.map((name) => ref('parameters', name))

export function authorizePath(service: Described): Part {
  const lenient = isLenient(service.settings)
  return {
    [authorizeEndpointPath]: { get: loginPage(service, lenient), post: formSubmission },
    ...(lenient && { '/captcha': { get: captcha } }),
  }
}

function loginPage(service: Described, lenient: boolean): Part {
  return {
    operationId: 'getLoginPage',
    summary: lenient ? 'Obtain the login page, or the code for a verified transaction' : 'Obtain the login page',
    ...(lenient && { description: 'Either the parameters of a login, or the `transaction_id` of a verified one.' }),
    tags: ['login'],
    parameters: [
      ...queryParameters,
      ref('parameters', 'login_hint'),
      ...(lenient ? [{ ...Object(parameters(service)['transaction_id']), required: false }] : []),
    ],
    responses: {
      '200': pageResponse('The login page and its session', 'LoginPage'),
      ...(lenient && { '302': redirectResponse('The authorization code', 'CodeLocation') }),
      '303': redirectResponse('The account of `login_hint` is registered in the other region', 'RegionLocation'),
      '400': pageResponse('A parameter is missing, wrong or repeated: the page names it', 'NoticePage'),
      '403': lenient
        ? mixedResponse(
            'The session has no such verified transaction, or the firewall blocks this client',
            content('text/html', 'NoticePage', 'ChallengePage'),
          )
        : challenge,
    },
  }
}

const captcha: Part = {
  operationId: 'getCaptcha',
  summary: "Obtain the picture of the captcha that the session's page shows",
  tags: ['login'],
  parameters: [ref('parameters', 'session')],
  responses: {
    '200': response('The picture, its letters as text', content('image/svg+xml', 'CaptchaPicture')),
    '403': mixedResponse(
      'The session is missing or unknown, or the firewall blocks this client',
      content('text/html', 'NoticePage', 'ChallengePage'),
    ),
    '404': pageResponse('The page shows no captcha', 'NoticePage'),
  },
}

const formSubmission: Part = {
  operationId: 'submitLoginForm',
  summary: 'Submit the login form for an authorization code',
  description: 'The query is that of the login page, without `login_hint`. The redirect is not followed.',
  tags: ['login'],
  parameters: [ref('parameters', 'session'), ...queryParameters],
  requestBody: {
    required: true,
    content: content('application/x-www-form-urlencoded', 'LoginForm', 'VerifiedForm', 'CancelForm'),
  },
  responses: {
    '200': pageResponse(
      'The passcode page, or the login page again: the account is locked, a captcha is due, the credentials are wrong',
      'PasscodePage',
      'LoginPage',
    ),
    '302': redirectResponse('The authorization code', 'CodeLocation'),
    '400': pageResponse('A parameter or a hidden input is missing or differs: the page names it', 'NoticePage'),
    '401': pageResponse('Wrong credentials: the login page again', 'LoginPage'),
    '403': mixedResponse(
      'The session or its `_csrf` is missing or unknown, or the firewall blocks this client',
      content('text/html', 'NoticePage', 'ChallengePage'),
    ),
    ...unreadable,
  },
}
