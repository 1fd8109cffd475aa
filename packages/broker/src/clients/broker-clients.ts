/**
 * The clients: who they are, and letting them in and out. One list for all processes that share the store.
 */
import { checkOptions, kinds, notebook, type Notes, type TokenStore } from '@owner-sso/core'
import { requireOption, storeRow } from '../given/given.ts'
import {
  ClientsError,
  type Invitation,
  type Invited,
  type KeptClient,
  type ListedClient,
  shownClient,
} from './client.ts'
import { type ClientList, parseClientList } from './client-list.ts'
import { checkedInvitation, looksLike, namedClient } from './invitation.ts'
import { newSecret, sha256 } from './secret.ts'
import { clientUses } from './uses.ts'
import { fresh } from './fresh.ts'

/** The clients of a broker, in a store that several processes may share. */
export interface BrokerClients {
  /**
   * Lets a program in.
   *
   * @throws TypeError that names what is wrong with the invitation; ClientsError `name-taken`, `malformed`; StoreError
   */
  invite(invitation: Invitation): Promise<Invited>
  /**
   * A new secret. The ones before it end at once, or in `grace` seconds.
   *
   * @throws TypeError for what is no name; ClientsError `unknown-client`, `malformed`; StoreError
   */
  rotate(name: string, options?: { readonly grace?: number | undefined }): Promise<Invited>
  /**
   * Returns whether there was such a client. Once it resolves, every process rejects its calls, and those that wait for the
   * next token. What is being answered already is answered.
   *
   * @throws TypeError for what is no name; ClientsError, StoreError
   */
  revoke(name: string): Promise<boolean>
  /** In the order in which they were invited. @throws ClientsError, StoreError */
  list(): Promise<readonly ListedClient[]>
  /**
   * The client with this secret, as all processes have it at this moment: never one that was revoked before the call.
   * Where the store can't be read, as it was read last.
   *
   * @throws ClientsError, StoreError where it was never read
   */
  find(secret: string): Promise<KeptClient | undefined>
  /** Counts a call. Nothing is written at once. */
  noteUse(name: string, address: string): void
  /** Writes what was counted. To be called before the process ends. @throws ClientsError, StoreError */
  close(): Promise<void>
}

/** Seconds that a grace may last: ten years are for ever. */
const longestGrace = 10 * 365 * 86_400

const now = (): number => Math.floor(Date.now() / 1000)

function checkName(name: string): void {
  requireOption(typeof name === 'string' && name !== '', 'name must be the name of a client', name)
}

/**
 * The clients that are kept in a token store, beside the token sets or in a store of their own. Nothing is read yet.
 *
 * @throws TypeError where there is no store
 */
export function brokerClients(place: { readonly store: TokenStore }): BrokerClients {
  checkOptions('brokerClients', place, { store: storeRow })
  const kept = notebook(place.store, 'clients')
  let known: { readonly notes: Notes; readonly list: ClientList } | undefined

  const parse = (notes: Notes): ClientList => {
    if (known?.notes !== notes) known = { notes, list: parseClientList(notes) }
    return known.list
  }
  const read = fresh(async () => parse(await kept.read()))
  const newest = (): Promise<ClientList> => read('')
  const uses = clientUses(notebook(place.store, 'uses'), async () => {
    const names = new Set((await newest()).clients.map(({ name }) => name))
    return (name) => names.has(name)
  })
  /** @param change - returns the list as it is to be; the same one for no change. Resolves to it */
  const update = async (
    change: (clients: readonly KeptClient[]) => readonly KeptClient[],
  ): Promise<readonly KeptClient[]> => {
    let changed: readonly KeptClient[] = []
    await kept.change((notes) => {
      const { clients } = parseClientList(notes)
      changed = change(clients)
      return changed === clients ? notes : { clients: changed }
    })
    return changed
  }

  return {
    async invite(invitation) {
      const refresh_token = newSecret()
      const keys = [{ sha256: sha256(refresh_token) }]
      const client: KeptClient = { ...checkedInvitation(invitation), invited_at: now(), keys }
      await update((clients) => withClient(clients, client))
      return { client: shownClient(client), refresh_token }
    },
    async rotate(name, options = {}) {
      const { grace = 0 } = checkOptions('rotate', options, { grace: kinds.number('seconds', 0, longestGrace) })
      checkName(name)
      const refresh_token = newSecret()
      const changed = await update((clients) => withSecret(clients, name, sha256(refresh_token), grace))
      const client = namedClient(changed, name)
      if (client === undefined) throw unknownClient(name)
      return { client: shownClient(client), refresh_token }
    },
    async revoke(name) {
      checkName(name)
      let isThere = false
      await update((clients) => {
        const revoked = namedClient(clients, name)
        isThere = revoked !== undefined
        return isThere ? clients.filter((client) => client.name !== revoked?.name) : clients
      })
      return isThere
    },
    async list() {
      const [{ clients }, used] = await Promise.all([newest(), uses.read()])
      return clients.map((client) => ({ calls: 0, ...shownClient(client), ...used.get(client.name) }))
    },
    async find(secret) {
      const [client, key] = (await newestOrLast()).findKey(sha256(secret)) ?? []
      const isOver = [client, key].some((one) => (one?.expires_at ?? Infinity) <= now())
      return isOver ? undefined : client
    },
    noteUse: uses.note,
    async close() {
      uses.stop()
      await uses.write()
    },
  }

  async function newestOrLast(): Promise<ClientList> {
    try {
      return await newest()
    } catch (error) {
      if (known === undefined) throw error
      return known.list
    }
  }
}

/** @throws ClientsError `name-taken` */
function withClient(clients: readonly KeptClient[], client: KeptClient): readonly KeptClient[] {
  const alike = clients.find(({ name }) => looksLike(name, client.name))
  if (alike === undefined) return [...clients, client]
  const text = `There is a client named ${alike.name} already. Revoke it first, or rotate its secret.`
  throw new ClientsError('name-taken', text)
}

/** The client's secrets before this one end at once, or in `grace` seconds. @throws ClientsError `unknown-client` */
function withSecret(clients: readonly KeptClient[], name: string, hash: string, grace: number): readonly KeptClient[] {
  const before = namedClient(clients, name)
  if (before === undefined) throw unknownClient(name)
  // Never later than it was to end before.
  const end = now() + Math.ceil(grace)
  const older = before.keys.map((key) => ({ ...key, expires_at: Math.min(key.expires_at ?? Infinity, end) }))
  return clients.with(clients.indexOf(before), {
    ...before,
    keys: [...(grace === 0 ? [] : older), { sha256: hash }],
  })
}

function unknownClient(name: string): ClientsError {
  return new ClientsError('unknown-client', `There is no client named ${name}.`)
}
