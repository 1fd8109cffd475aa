/**
 * Endpoints 3 and 6 of the description: one address, two grants.
 */
import { isLenient } from '../service/strictness.ts'
import type { Described, Part } from './part.ts'
import { challenge, content, mixedResponse, response, unreadable } from './responses.ts'

export function tokenPath({ settings, instances }: Described): Part {
  const grants = ['CodeExchange', 'Refresh'] as const
  return {
    '/oauth2/v3/token': {
      ...(instances.home.tokenUrl !== instances.home.url && {
        servers: [instances.home, instances.regional].map(({ tokenUrl }) => ({ url: tokenUrl })),
      }),
      post: {
        operationId: 'getTokens',
        summary: 'Exchange an authorization code, or refresh',
        tags: ['login', 'refresh'],
        requestBody: {
          required: true,
          content: {
            ...content('application/json', ...grants),
            ...(isLenient(settings) && content('application/x-www-form-urlencoded', ...grants)),
          },
        },
        responses: {
          '200': mixedResponse(
            'Tokens; or the passcode page, where the account has a second factor that was not verified',
            content('application/json', 'SignInTokens', 'RefreshedTokens'),
            content('text/html', 'PasscodePage'),
          ),
          '400': response(
            'The request is wrong, or the code or refresh token is',
            content('application/json', 'TokenError'),
          ),
          '403': challenge,
          ...unreadable,
        },
      },
    },
  }
}
