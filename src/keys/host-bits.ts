import { show } from '../util/validate.js'
import { parseAsWritten } from './address.js'
import { networkText } from './network-key.js'

/**
 * Returns the network of a CIDR range whose address has bits after the prefix, such as `10.0.0.0/8` for
 * `10.1.2.3/8`; `undefined` for anything else.
 */
function networkAround(entry: unknown): string | undefined {
  const [, text = '', bits] = typeof entry === 'string' ? (/^([^/]*)\/(\d{1,3})$/.exec(entry) ?? []) : []
  const address = parseAsWritten(text)
  const width = typeof address === 'string' ? 32 : 128
  if (address === undefined || Number(bits) > width) return undefined
  const network = networkText(address, Number(bits))
  return network === networkText(address, width) ? undefined : `${network}/${bits}`
}

/**
 * Returns what is wrong with a CIDR range whose address has bits after the prefix; `undefined` for anything
 * else. Such a range is ambiguous: its author may have meant the network or the address.
 */
export function hostBitsProblem(entry: unknown): string | undefined {
  const network = networkAround(entry)
  if (network === undefined) return undefined
  const [address] = String(entry).split('/')
  return `must be a network or an address, got ${show(entry)}. Write '${network}' for the network, or '${address}' for the address.`
}

/** Throws a `TypeError` for the first range in a list whose address has bits after the prefix. */
export function checkHostBits(owner: string, option: string, entries: readonly unknown[]): void {
  for (const entry of entries) {
    const problem = hostBitsProblem(entry)
    if (problem !== undefined) throw new TypeError(`${owner}: each entry of ${option} ${problem}`)
  }
}
