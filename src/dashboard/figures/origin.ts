import { type Address, addressIdentity } from '../../keys/address.js'
import { networkText } from '../../keys/network-key.js'
import type { Inspection } from '../../limiter/inspection.js'
import { nameHash } from '../../util/distinct-names.js'
import { routeOf } from './route.js'

/** Where a request came from, and what it asked for, as far as they are known. */
export interface Origin {
  /** The route, such as `GET /users/:id`. */
  readonly route: string | undefined
  /** A hash of the whole address, by which addresses are counted. */
  readonly addressHash: number | undefined
  /** Its network: /24 of IPv4, /48 of IPv6. */
  readonly network: string | undefined
}

const NOWHERE = { addressHash: undefined, network: undefined }

/** Returns the origin of the subject of a charge. Never throws. */
export function originOf(subject: unknown, { addressOf }: Pick<Inspection, 'addressOf'>): Origin {
  return { route: attempt(() => routeOf(subject)), ...networkOf(attempt(() => addressOf(subject))) }
}

function networkOf(address: Address | undefined): Omit<Origin, 'route'> {
  if (address === undefined) return NOWHERE
  if (typeof address !== 'string')
    return { addressHash: nameHash(addressIdentity(address, 128)), network: `${networkText(address, 48)}/48` }
  return { addressHash: nameHash(address), network: `${address.slice(0, address.lastIndexOf('.'))}.0/24` }
}

/** Returns what `read` returns; `undefined` if it throws: an address may be gone, and a subject may be anything. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
