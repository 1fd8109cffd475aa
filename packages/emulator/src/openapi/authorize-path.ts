/** Endpoints 1 and 2 of the description: the login page and the submitted form. */
import { AUTHORIZE_PATH } from '../authorize-answers.ts'
import { isLenient } from '../strictness.ts'
import { AUTHORIZE_PARAMETERS, parameters } from './components.ts'
import { ref, type Described, type Part } from './part.ts'
import { CHALLENGE, content, mixedResponse, pageResponse, redirectResponse, UNREADABLE } from './responses.ts'

export function authorizePath(service: Described): Part {
  return { [AUTHORIZE_PATH]: { get: loginPage, post: formSubmission(service) } }
}

const loginPage: Part = {
  operationId: 'getLoginPage',
  summary: 'Obtain the login page',
  tags: ['login'],
  parameters: [...AUTHORIZE_PARAMETERS, 'login_hint'].map((name) => ref('parameters', name)),
  responses: {
    '200': pageResponse('The login page and its session', 'LoginPage'),
    '303': redirectResponse('The account of `login_hint` is registered in the other region', 'RegionLocation'),
    '400': pageResponse('A parameter is missing, wrong or repeated: the page names it', 'NoticePage'),
    '403': CHALLENGE,
  },
}

function formSubmission(service: Described): Part {
  return {
    operationId: 'submitLoginForm',
    summary: 'Submit the login form for an authorization code',
    description: 'The query is that of the login page, without `login_hint`. The redirect is not followed.',
    tags: ['login'],
    parameters: [ref('parameters', 'session'), ...query(service)],
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
      ...UNREADABLE,
    },
  }
}

/** Legacy clients may leave the query out as a whole. */
function query(service: Described): readonly Part[] {
  if (!isLenient(service.settings)) return AUTHORIZE_PARAMETERS.map((name) => ref('parameters', name))
  const all: Readonly<Record<string, unknown>> = parameters(service)
  return AUTHORIZE_PARAMETERS.map((name) => ({ ...Object(all[name]), required: false }))
}
