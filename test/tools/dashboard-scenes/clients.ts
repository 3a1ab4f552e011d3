import type { ShownClient } from '../../../src/dashboard/figures/shown.js'
import { randomFrom } from '../simulate/random.js'

/** What the denied clients of a scene have in common. */
export interface Crowd {
  readonly limitName: string
  readonly count: number
  readonly deniedPerSecond: number
  readonly sinceMs: number
  readonly routes: readonly string[]
  /** Returns the identity of the nth client. */
  identityOf(i: number): string
  labelOf?(i: number): string | undefined
  /** How many addresses stand behind each. */
  readonly addresses: number
  readonly networks: readonly string[]
}

/** Returns denied clients, those denied most first: their numbers fall as they do in traffic. */
export function crowdOf(crowd: Crowd, nowMs: number): ShownClient[] {
  const random = randomFrom(crowd.count)
  const weights = Array.from({ length: crowd.count }, (_, i) => 1 / (i + 3) ** 0.6)
  const sum = weights.reduce((a, b) => a + b, 0)
  const seconds = (nowMs - crowd.sinceMs) / 1000
  return weights.map((weight, i) => {
    const deniedPerSecond = (crowd.deniedPerSecond * weight) / sum
    const denied = Math.max(1, Math.round(deniedPerSecond * seconds))
    const label = crowd.labelOf?.(i)
    const first = crowd.networks[i % crowd.networks.length] as string
    const others = crowd.addresses > 1 ? crowd.networks.filter((network) => network !== first) : []
    return {
      limitName: crowd.limitName,
      identity: crowd.identityOf(i),
      ...(label !== undefined && { label }),
      denied,
      deniedPerSecond,
      firstDeniedMs: crowd.sinceMs + Math.floor(20_000 * random()),
      lastDeniedMs: nowMs - Math.floor(3000 * random()),
      routes: sharesOf(crowd.routes, denied).map(([route, count]) => ({ route, denied: count })),
      addresses: crowd.addresses,
      networks: sharesOf([first, ...others].slice(0, 5), denied).map(([network, count]) => ({
        network,
        denied: count,
      })),
    }
  })
}

/** Divides a count among names: half of what is left to each, and the rest to the first. */
function sharesOf(names: readonly string[], count: number): (readonly [name: string, count: number])[] {
  const shares = names.slice(1).map((name, i) => [name, Math.floor(count / 2 ** (i + 2))] as const)
  const rest = shares.reduce((left, [, share]) => left - share, count)
  return [[names[0] as string, rest], ...shares]
}
