/**
 * Endpoints 4 and 5 of the description, and the backup codes.
 */
import { ref, type Part } from './part.ts'
import { challenge, content, response, unreadable } from './responses.ts'

const prefix = '/oauth2/v3/authorize/mfa'

const refused: Part = {
  '400': response('The request is wrong, or the sign-in took too long', content('application/json', 'MfaError')),
  '401': response('No sign-in of this session waits for a passcode', content('application/json', 'MfaError')),
}

const factors: Part = {
  operationId: 'listFactors',
  summary: 'List the second factors of the account',
  description: 'Answers at `/authorize/mfa/factors` as well.',
  tags: ['second factor'],
  parameters: [ref('parameters', 'session'), ref('parameters', 'transaction_id')],
  responses: {
    '200': response('The factors', content('application/json', 'FactorList')),
    ...refused,
    '403': challenge,
  },
}

const verify: Part = {
  operationId: 'verifyPasscode',
  summary: 'Verify a passcode',
  description: 'Answers at `/authorize/mfa/verify` as well. After it the login form is posted again.',
  tags: ['second factor'],
  parameters: [ref('parameters', 'session')],
  requestBody: { required: true, content: content('application/json', 'Verify') },
  responses: {
    '200': response('The verdict: `valid` decides', content('application/json', 'Verification')),
    ...refused,
    '403': response(
      'The `_csrf` is missing or wrong, or the firewall blocks this client',
      content('application/json', 'MfaError'),
      content('text/html', 'ChallengePage'),
    ),
    ...unreadable,
  },
}

const backupCode: Part = {
  operationId: 'attemptBackupCode',
  summary: 'Verify a backup code in place of a passcode',
  description: 'Not in the interface document, as recorded. Answers at `/authorize/mfa/backupcodes/attempt` as well.',
  tags: ['second factor'],
  parameters: [ref('parameters', 'session')],
  requestBody: { required: true, content: content('application/json', 'BackupCode') },
  responses: {
    '200': response('The verdict: `valid` decides', content('application/json', 'BackupCodeAttempt')),
    ...refused,
    '403': challenge,
    ...unreadable,
  },
}

export const mfaPaths: Part = {
  [`${prefix}/factors`]: { get: factors },
  [`${prefix}/verify`]: { post: verify },
  [`${prefix}/backupcodes/attempt`]: { post: backupCode },
}
