/**
 * Who may call: the clients' file, as `@owner-sso/broker` keeps it. A client that is added, changed or revoked there counts
 * from the next call on.
 */
import { brokerClients, type BrokerClients, ClientsError } from '@owner-sso/broker'
import { SettingsError } from './settings.ts'

/**
 * Opens the clients' file.
 *
 * @throws SettingsError that says what is wrong in it
 */
export async function openClients(file: string): Promise<BrokerClients> {
  const clients = brokerClients({ file })
  try {
    const listed = await clients.list()
    if (listed.length > 0) return clients
  } catch (error) {
    if (error instanceof ClientsError) throw new SettingsError(`OWNER_SSO_CLIENTS_FILE: ${error.message}`)
    throw error
  }
  throw new SettingsError(`OWNER_SSO_CLIENTS_FILE: there is no client in ${file}.`)
}
