/**
 * Endpoints 1 and 2 of the description: the login page, the submitted form, and the pages that answer them.
 */
import { authorizeEndpointPath } from '../service/authorize-responses.ts'
import { hiddenInputName } from '../service/sessions.ts'
import { isLenient } from '../service/strictness.ts'
import {
  authorizeParameterRefs,
  challenge,
  content,
  pageResponse,
  redirectResponse,
  ref,
  refusedPage,
  response,
  text,
  transactionId,
  unreadable,
  type Described,
  type Part,
} from './parts.ts'

export function loginPaths({ settings }: Described): Part {
  const lenient = isLenient(settings)
  return {
    [authorizeEndpointPath]: { get: loginPage(lenient), post: formSubmission },
    ...(lenient && { '/captcha': { get: captcha } }),
  }
}

function loginPage(lenient: boolean): Part {
  return {
    operationId: 'getLoginPage',
    summary: lenient ? 'Obtain the login page, or the code for a verified transaction' : 'Obtain the login page',
    ...(lenient && { description: 'Either the parameters of a login, or the `transaction_id` of a verified one.' }),
    tags: ['login'],
    parameters: [
      ...authorizeParameterRefs,
      ref('parameters', 'login_hint'),
      ...(lenient ? [{ ...transactionId, required: false }] : []),
    ],
    responses: {
      '200': pageResponse('The login page and its session', 'LoginPage'),
      ...(lenient && { '302': redirectResponse('The authorization code', 'CodeLocation') }),
      '303': redirectResponse('The account of `login_hint` is registered in the other region', 'RegionLocation'),
      '400': pageResponse('A parameter is missing, wrong or repeated: the page names it', 'NoticePage'),
      '403': lenient ? refusedPage('The session has no such verified transaction') : challenge,
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
    '403': refusedPage('The session is missing or unknown'),
    '404': pageResponse('The page shows no captcha', 'NoticePage'),
  },
}

const formSubmission: Part = {
  operationId: 'submitLoginForm',
  summary: 'Submit the login form for an authorization code',
  description: 'The query is that of the login page, without `login_hint`. The redirect is not followed.',
  tags: ['login'],
  parameters: [ref('parameters', 'session'), ...authorizeParameterRefs],
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
    '403': refusedPage('The session or its `_csrf` is missing or unknown'),
    ...unreadable,
  },
}

/** The document's hidden inputs. */
const inputNames = ['_csrf', '_phase', '_process', 'transaction_id', 'cancel']

export function pageSchemas({ settings }: Described): Part {
  const { hiddenInputs, identityFirst } = settings
  const named = (name: string): string => hiddenInputName(hiddenInputs, name)
  const hidden = [...inputNames.map(named), ...Object.keys(hiddenInputs.extra ?? {})]
  const [transaction, cancel] = [named('transaction_id'), named('cancel')]
  const lenient = isLenient(settings)
  const any: Part = { type: 'string' }
  return {
    ...(lenient && { CaptchaPicture: { type: 'string', contentMediaType: 'image/svg+xml', pattern: '^<svg .*<text' } }),
    LoginPage: htmlPage(
      identityFirst
        ? 'A form with hidden inputs and `identity`, then one with hidden inputs and `credential`; what is wrong, if anything'
        : 'A form with hidden inputs, `identity` and `credential`; what is wrong, if anything',
      identityFirst ? 'name="(?:identity|credential)"' : 'name="credential"',
    ),
    PasscodePage: htmlPage('Asks for a passcode, with a `_csrf` of its own', 'name="passcode"'),
    NoticePage: htmlPage('Says why a request was refused', 'We could not '),
    ChallengePage: htmlPage('Demands that a script is run, or denies access', '^<(?:HTML|html)>'),
    LoginForm: {
      type: 'object',
      description:
        'Every hidden input found on the page with the value found, and the credentials. The names may change at any time.',
      properties: {
        ...Object.fromEntries(hidden.map((name) => [name, any])),
        identity: { ...text, description: 'The e-mail address of the account' },
        credential: { ...text, description: 'The password of the account' },
        captcha: { ...any, description: 'The letters of the captcha, where the page shows one' },
      },
      required: identityFirst
        ? [...hidden.filter((name) => name !== named('_process')), 'identity']
        : [...hidden, 'identity', 'credential'],
      additionalProperties: any,
    },
    VerifiedForm: {
      type: 'object',
      description: lenient
        ? 'After a verification: the transaction id alone, or with the `_csrf` of the passcode page or the login page'
        : "After a verification: the passcode page's own form. The whole login form does as well.",
      properties: { _csrf: any, [transaction]: any, transaction_id: any },
      required: lenient ? ['transaction_id'] : ['_csrf', 'transaction_id'],
      not: { anyOf: [{ required: ['identity'] }, { required: ['credential'] }] },
      additionalProperties: any,
    },
    CancelForm: {
      type: 'object',
      description: 'Ends the login. The button of the page stands beside a hidden input of its name.',
      properties: {
        [transaction]: any,
        [cancel]: { anyOf: [{ const: '1' }, { type: 'array', contains: { const: '1' } }] },
      },
      required: [transaction, cancel],
    },
  }
}

function htmlPage(description: string, pattern: string): Part {
  return { type: 'string', contentMediaType: 'text/html', description, pattern }
}
