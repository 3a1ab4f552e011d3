import { isNetwork, parseAddress } from '../../keys/address.js'
import { bitsOf, isInRange, type Range } from '../../keys/network-key.js'
import { readNetwork } from '../../settings/read-target.js'
import type { LimitDemand } from '../../tuning/client-demand.js'
import { counted } from '../findings/words.js'
import { isAddressIn, networkOf } from './targeted-clients.js'
import type { Target } from './targets.js'

/** Networks with shorter prefixes hold more addresses than one owner usually has. */
const WIDE_IPV4 = 16
const WIDE_IPV6 = 32

/** What is known about the other clients in a network. */
export interface Surroundings {
  /** The address that the operator's own request came from. */
  readonly operatorAddress: string | undefined
  /** What clients asked for; `undefined` if it could not be read. */
  readonly demands: readonly LimitDemand[] | undefined
  /** The clients that are denied at present. */
  readonly denied: ReadonlySet<string>
}

/** Returns which other clients a block of networks would affect, each in a sentence. */
export function networkWarnings(targets: readonly Target[], around: Surroundings): readonly string[] {
  return targets.flatMap((target) => {
    const text = networkOf(target)
    if (text === undefined) return []
    return warningsOf(text, readNetwork('dashboard: network', text), around)
  })
}

function warningsOf(text: string, range: Range, around: Surroundings): readonly string[] {
  const { operatorAddress } = around
  const own = parseAddress(operatorAddress)
  const [network, prefix] = range
  const width = typeof network === 'number' ? 32 : 128
  const isWide = prefix < (width === 32 ? WIDE_IPV4 : WIDE_IPV6)
  const size =
    width === 32 ? counted(2 ** (32 - prefix), 'address', 'addresses') : `2^${128 - prefix} addresses`
  return [
    own !== undefined &&
      isInRange(bitsOf(own), range) &&
      `${text} contains your own address, ${operatorAddress}.`,
    isWide && `${text} has ${size}.`,
    allowedIn(text, range, around),
  ].filter((warning) => typeof warning === 'string')
}

function allowedIn(text: string, range: Range, { demands = [], denied }: Surroundings): string | undefined {
  const allowed = allowedClientsIn(range, demands, denied)
  if (allowed === 0) return undefined
  return `${counted(allowed, 'client')} in ${text} ${allowed === 1 ? 'has' : 'have'} had no denials in the last 12 to 24 hours.`
}

/** Returns what is not known about the clients in networks, each in a sentence. */
export function networkNotes(targets: readonly Target[], { demands }: Surroundings): readonly string[] {
  const networks = targets.flatMap((target) => networkOf(target) ?? [])
  if (demands === undefined) return networks.map((text) => `The other clients in ${text} could not be read.`)
  const clients = demands.flatMap((each) => each.demands)
  if (clients.length === 0 || clients.some(({ identity }) => isNetwork(identity))) return []
  const unknown =
    'This limiter does not count by IP address, so the page cannot tell which other clients are in'
  return networks.map((text) => `${unknown} ${text}.`)
}

/** Returns how many clients of a network were never denied. They are known where their identity is an address. */
function allowedClientsIn(
  range: Range,
  demands: readonly LimitDemand[],
  denied: ReadonlySet<string>,
): number {
  const wasDenied = new Map<string, { isDenied: boolean; weight: number }>()
  for (const { identity, weight, wasDenied: isDenied } of demands.flatMap((each) => each.demands)) {
    if (denied.has(identity) || !isAddressIn(identity, range)) continue
    const before = wasDenied.get(identity)
    wasDenied.set(identity, {
      isDenied: isDenied || before?.isDenied === true,
      weight: Math.max(weight, before?.weight ?? 0),
    })
  }
  const allowed = Array.from(wasDenied.values()).filter(({ isDenied }) => !isDenied)
  return Math.round(allowed.reduce((sum, { weight }) => sum + weight, 0))
}
