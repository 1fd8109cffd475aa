/**
 * The pages that the service answers, and the forms that are posted from them.
 */
import { hiddenInputName } from '../service/sessions.ts'
import { isLenient } from '../service/strictness.ts'
import type { Described, Part } from './part.ts'

/** The document's hidden inputs. */
const inputNames = ['_csrf', '_phase', '_process', 'transaction_id', 'cancel']

export function pageSchemas({ settings }: Described): Part {
  const { hiddenInputs } = settings
  const named = (name: string): string => hiddenInputName(hiddenInputs, name)
  const names = [...inputNames.map(named), ...Object.keys(hiddenInputs.extra ?? {})]
  const hidden = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const transactionId = named('transaction_id')
  const cancel = named('cancel')
  const lenient = isLenient(settings)
  return {
    ...(lenient && { CaptchaPicture: { type: 'string', contentMediaType: 'image/svg+xml', pattern: '^<svg .*<text' } }),
    LoginPage: htmlPage(
      settings.identityFirst
        ? 'A form with hidden inputs and `identity`, then one with hidden inputs and `credential`; what is wrong, if anything'
        : 'A form with hidden inputs, `identity` and `credential`; what is wrong, if anything',
      settings.identityFirst ? 'name="(?:identity|credential)"' : 'name="credential"',
    ),
    PasscodePage: htmlPage('Asks for a passcode, with a `_csrf` of its own', 'name="passcode"'),
    NoticePage: htmlPage('Says why a request was refused', 'We could not '),
    ChallengePage: htmlPage('Demands that a script is run, or denies access', '^<(?:HTML|html)>'),
    LoginForm: {
      type: 'object',
      description:
        'Every hidden input found on the page with the value found, and the credentials. The names may change at any time.',
      properties: {
        ...hidden,
        identity: { type: 'string', minLength: 1, description: 'The e-mail address of the account' },
        credential: { type: 'string', minLength: 1, description: 'The password of the account' },
        captcha: { type: 'string', description: 'The letters of the captcha, where the page shows one' },
      },
      required: settings.identityFirst
        ? [...Object.keys(hidden).filter((name) => name !== named('_process')), 'identity']
        : [...Object.keys(hidden), 'identity', 'credential'],
      additionalProperties: { type: 'string' },
    },
    VerifiedForm: {
      type: 'object',
      description: lenient
        ? 'After a verification: the transaction id alone, or with the `_csrf` of the passcode page or the login page'
        : "After a verification: the passcode page's own form. The whole login form does as well.",
      properties: {
        _csrf: { type: 'string' },
        [transactionId]: { type: 'string' },
        transaction_id: { type: 'string' },
      },
      required: lenient ? ['transaction_id'] : ['_csrf', 'transaction_id'],
      not: { anyOf: [{ required: ['identity'] }, { required: ['credential'] }] },
      additionalProperties: { type: 'string' },
    },
    CancelForm: {
      type: 'object',
      description: 'Ends the login. The button of the page stands beside a hidden input of its name.',
      properties: {
        [transactionId]: { type: 'string' },
        [cancel]: { anyOf: [{ const: '1' }, { type: 'array', contains: { const: '1' } }] },
      },
      required: [transactionId, cancel],
    },
  }
}

function htmlPage(description: string, pattern: string): Part {
  return { type: 'string', contentMediaType: 'text/html', description, pattern }
}
