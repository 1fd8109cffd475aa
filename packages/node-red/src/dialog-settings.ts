/**
 * What the dialog of an account sends of its settings, and what of it counts. Whoever may sign in does so with what is deployed.
 * Other settings name servers and folders, and ask for variables of the environment: they are for those who may deploy.
 */
import { type AccountNode, isAccountNode } from './account.ts'
import { type AccountSettings, accountSettings, secretSettings } from './account-settings.ts'
import type { Config, NodeRed } from './node-red.ts'

/** What the dialog sends. */
export type Fields = Readonly<Record<string, string>>

/** What the editor has in place of a secret that it does not know. */
const unchanged = '__PWRD__'

/** Whom a secret is for, and what it opens. */
const addresses = ['source', 'folder', 'brokerUrl', 'authUrl'] as const

export function areDeployed(RED: NodeRed, fields: Fields): boolean {
  const deployed = deployedAccount(RED, fields['id'])
  return (
    deployed !== undefined && Object.keys(deployed.node.settings).every((name) => isAsDeployed(name, fields, deployed))
  )
}

/** The settings as they stand in the dialog. @throws TypeError where a stored secret would go elsewhere */
export function dialogSettings(RED: NodeRed, fields: Fields): AccountSettings {
  const deployed = deployedAccount(RED, fields['id'])
  if (deployed !== undefined && areDeployed(RED, fields)) return deployed.node.settings
  const kept =
    deployed && addresses.every((name) => isAsDeployed(name, fields, deployed)) ? deployed.node.settings : undefined
  const needed = { broker: 'brokerKey', folder: 'encryptionKey' }[fields['source'] ?? '']
  return accountSettings((name) => {
    const text = fields[name] ?? ''
    if (!isSecret(name) || text !== unchanged) return fromEnvironment(text)
    if (kept === undefined && name === needed)
      throw new TypeError('The key was stored for other addresses. Enter it again, or deploy first.')
    return kept?.[name] ?? ''
  })
}

interface Deployed {
  readonly node: AccountNode
  /** As it was typed: variables of the environment are names here. */
  readonly config: Config
}

function deployedAccount(RED: NodeRed, id: string | undefined): Deployed | undefined {
  const node = RED.nodes.getNode(id ?? '')
  if (!isAccountNode(node)) return undefined
  let config: Config = {}
  RED.nodes.eachNode((each) => {
    if (each['id'] === id) config = each
  })
  return { node, config }
}

/** What the dialog leaves out is as it is deployed. */
function isAsDeployed(name: string, fields: Fields, { node, config }: Deployed): boolean {
  const text = fields[name]
  if (text === undefined) return true
  if (isSecret(name)) return text === unchanged || (text === '' && node.settings[name] === '')
  return text === (config[name] ?? '')
}

function isSecret(name: string): name is (typeof secretSettings)[number] {
  return secretSettings.some((secret) => secret === name)
}

/** `${NAME}`, as Node-RED itself puts it in for what is deployed. */
function fromEnvironment(text: string): string {
  const [, name] = /^\$\{(\w+)\}$/u.exec(text) ?? []
  return name === undefined ? text.trim() : (process.env[name] ?? '')
}
