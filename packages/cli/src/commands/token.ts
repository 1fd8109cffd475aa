/**
 * `owner-sso token`: a valid access token, and nothing else.
 */
import { requireSignedIn, chosenAccount } from '../tokens/account.ts'
import { stopped } from '../failure/interruption.ts'
import { printData, printJson } from '../terminal/output.ts'
import { timeSpan } from '../settings/option-values.ts'
import { serviceOf } from '../settings/configured-service.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { value } from '../options/option.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
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
  async run({ settings, options }) {
    const minValidity = timeSpan('--min-validity', options.minValidity)
    await withTokens(settings, serviceOf(settings), async ({ tokens }) => {
      const account = await chosenAccount(settings, tokens)
      const { access_token, expires_at } = await requireSignedIn(account, tokens, () =>
        tokens.getTokens(account, { signal: stopped, minValidity }),
      )
      await (settings.json ? printJson({ account, access_token, expires_at }) : printData(access_token))
    })
  },
})
