/** `owner-sso proxy`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'
import { value } from '../command-line/option.ts'

export const proxy = command({
  name: 'proxy',
  summary: 'call the owner API through a local address',
  description:
    'Listens on 127.0.0.1 and forwards calls of /api/1/ to the owner API, with the account’s access token. Prints ' +
    'its address. Web pages of other sites are refused; every program on this machine may call. Ctrl-C ends it.',
  options: {
    port: value('<number>', 'port to listen on (default: any free one)'),
  },
  examples: [['owner-sso proxy --port 8080 & curl http://127.0.0.1:8080/api/1/vehicles', 'no token in sight']],
})
