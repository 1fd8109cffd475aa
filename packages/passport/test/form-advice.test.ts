/** What a developer is told whose form brings nothing to the strategy. */
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import express from 'express'
import { type AuthenticateCallback, Passport } from 'passport'
import request from 'supertest'
import { OwnerSsoStrategy, type StrategyOptions } from '../src/index.ts'

let told: jest.SpiedFunction<typeof process.emitWarning>
beforeEach(() => {
  told = jest.spyOn(process, 'emitWarning').mockReturnValue()
})
afterEach(() => told.mockRestore())

/** An application whose route signs in without a session; nothing is ever sent to the service. */
function application(options: StrategyOptions, ...parsers: express.RequestHandler[]): express.Express {
  const passport = new Passport()
  passport.use(new OwnerSsoStrategy({ authUrl: 'https://auth.example.com', ...options }))
  const app = express()
  app.post('/login', ...parsers, (req, res, next) => {
    const answer: AuthenticateCallback = (_error, _user, info) => res.json(info)
    passport.authenticate('owner-sso', { session: false }, answer)(req, res, next)
  })
  return app
}

const parsers = [express.urlencoded({ extended: false }), express.json()]
const secret = 'correct horse'

it.each<
  [
    what: string,
    parsers: express.RequestHandler[],
    options: StrategyOptions,
    body: string | object,
    advice: string | undefined,
  ]
>([
  [
    'nothing parsed the form',
    [],
    {},
    'identity=a%40b.c&credential=x',
    'req.body is empty: express.urlencoded() or express.json()',
  ],
  ['nothing parsed the JSON', [], {}, { identity: 'a@b.c', credential: 'x' }, 'req.body is empty'],
  ['another parser is there', [express.json()], {}, 'identity=a%40b.c&credential=x', 'req.body is empty'],
  [
    'other names came',
    parsers,
    {},
    { email: 'ann@example.com', password: secret },
    'fields received: email, password; set identityField and credentialField to',
  ],
  [
    'one other name came',
    parsers,
    {},
    { username: 'ann', credential: secret },
    'username, credential; set identityField to',
  ],
  [
    'the options name others',
    parsers,
    { credentialField: 'pw' },
    { identity: 'ann', password: secret },
    'set credentialField to',
  ],
  [
    'values stand where names do',
    parsers,
    {},
    `${encodeURIComponent('{"password":"correct horse"}')}=&hunter2=&ok=1`,
    'fields received: …, …, ok;',
  ],
  ['a person entered nothing', parsers, {}, { identity: '', credential: '' }, undefined],
  ['a person entered no password', parsers, {}, { identity: 'ann', credential: '', _csrf: 'c' }, undefined],
  ['nothing was sent', parsers, {}, '', undefined],
])('where %s, the advice is given once', async (_, parse, options, body, advice) => {
  const app = application(options, ...parse)
  for (let time = 0; time < 2; time += 1) {
    const { body: info } = await request(app).post('/login').send(body)
    expect(info).toMatchObject({ code: 'ERR_SSO_CREDENTIALS_MISSING', message: 'Enter your e-mail and your password.' })
  }
  const warnings = told.mock.calls.map(([warning, more]) => `${String(warning)} ${JSON.stringify(more)}`)
  expect(warnings).toHaveLength(advice === undefined ? 0 : 1)
  expect(warnings.join('')).toContain(advice ?? '')
  expect(warnings.join('')).toMatch(/^$|"type":"OwnerSsoWarning","code":"OWNER_SSO_FORM"/u)
  expect(warnings.join('')).not.toMatch(/correct|hunter|ann@/u)
})

it.each([
  [{ passcode: 123_456 }, 'The passcode has to be sent as text'],
  [{ identity: 'a@b.c', credential: 'x', passcode: 12_345 }, 'The passcode has to be sent as text'],
  [{ identity: 'a@b.c', credential: 123_456 }, 'The password has to be sent as text'],
  [{ identity: ['a@b.c'], credential: 'x' }, 'The e-mail has to be sent as text'],
  [{ backupCode: 123_456_789 }, 'The backup code has to be sent as text'],
])('for %j, the error names the field that is no text', async (body, message) => {
  const { body: info } = await request(application({}, ...parsers))
    .post('/login')
    .send(body)
  expect(info).toMatchObject({ code: 'ERR_SSO_CREDENTIALS_MISSING', message: expect.stringContaining(message) })
  expect(told).not.toHaveBeenCalled()
})
