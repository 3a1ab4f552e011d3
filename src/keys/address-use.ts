import type { KeyFunction } from './key.js'
import { type AddressReader, addressReader } from './source-address.js'

interface AddressUse {
  readonly read: AddressReader
  /** Whether the function returns only addresses, which are bounded, printable and no secret. */
  readonly returnsAddress: boolean
}

/** A registered symbol: a second copy of this package recognises the key functions of this one. */
const USE = Symbol.for('headgate.addressUse')

/** Returns how a key function uses the source address; `undefined` if it does not read it. */
export function addressUseOf(key: KeyFunction): AddressUse | undefined {
  return (key as { [USE]?: AddressUse })[USE]
}

/** Marks a key function with how it uses the source address, and returns it. */
export function markAddressUse<K extends KeyFunction>(key: K, use: AddressUse | undefined): K {
  return Object.defineProperty(key, USE, { value: use })
}

/**
 * Returns how the first key of these limits that reads the source address reads it; as `byIp()` does if
 * none of them reads one. So malformed input, `allow` and `block` see the address that the key sees.
 */
export function addressReaderAmong(
  limits: readonly { readonly key?: readonly KeyFunction[] | undefined }[],
): AddressReader {
  const uses = limits.flatMap(({ key = [] }) => key.map(addressUseOf))
  return uses.find((use) => use !== undefined)?.read ?? addressReader('byIp')
}
