import { isNetwork, parseAddress } from '../../keys/address.js'
import { bitsOf, isInRange, type Range } from '../../keys/network-key.js'
import { readNetwork } from '../../settings/read-target.js'
import type { ShownClient } from '../figures/shown.js'
import type { Target } from './targets.js'

/** Returns those of some clients that are among the targets, or were denied from the network of one. */
export function clientsAmong(
  clients: readonly ShownClient[],
  targets: readonly Target[],
): readonly ShownClient[] {
  const identities = new Set(targets.map(({ storedIdentity, identity }) => storedIdentity ?? identity))
  const texts = targets.flatMap((target) => networkOf(target) ?? [])
  const networks = new Set(texts)
  const ranges = texts.map((text) => readNetwork('dashboard: network', text))
  return clients.filter(
    (client) =>
      identities.has(client.identity) ||
      client.networks.some(({ network }) => networks.has(network)) ||
      ranges.some((range) => isAddressIn(client.identity, range)),
  )
}

/** Returns the network that a target is; `undefined` if it is a client. */
export function networkOf({ network, identity = '' }: Target): string | undefined {
  return network ?? (isNetwork(identity) ? identity : undefined)
}

/** Returns whether an identity is an address, or the network of one home, in a range. */
export function isAddressIn(identity: string, range: Range): boolean {
  const address = parseAddress(identity.split('/', 1)[0])
  return address !== undefined && isInRange(bitsOf(address), range)
}
