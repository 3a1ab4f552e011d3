import type { KeyFunction } from './key.js'
import { type AddressReader, addressReader } from './source-address.js'

/** How a key function uses the source address. */
interface AddressUse {
  readonly read: AddressReader
  /** Whether the function returns only addresses, which are bounded, printable and no secret. */
  readonly returnsAddress: boolean
}

/** A registered symbol: a second copy of this package recognises the key functions of this one. */
const USE = Symbol.for('headgate.addressUse')

function useOf(key: KeyFunction): AddressUse | undefined {
  return (key as { [USE]?: AddressUse })[USE]
}

/** Marks a key function that reads the source address, and returns it. */
export function markAddressKey<K extends KeyFunction>(key: K, use: AddressUse): K {
  return Object.defineProperty(key, USE, { value: use })
}

/** Marks `key` as reading the source address as `other` does, where `other` reads one. Returns `key`. */
export function readsAddressLike<K extends KeyFunction>(key: K, other: KeyFunction): K {
  const use = useOf(other)
  return use === undefined ? key : markAddressKey(key, { read: use.read, returnsAddress: false })
}

/** Returns whether a key function returns only addresses. */
export function isAddressKey(key: KeyFunction): boolean {
  return useOf(key)?.returnsAddress === true
}

/**
 * Returns how the first key of these limits that reads the source address reads it; as `byIp()` does where
 * none of them reads one. So malformed input, `allow` and `block` see the address that the key sees.
 */
export function addressReaderAmong(
  limits: readonly { readonly key?: readonly KeyFunction[] | undefined }[],
): AddressReader {
  const uses = limits.flatMap(({ key = [] }) => key.map(useOf))
  return uses.find((use) => use !== undefined)?.read ?? addressReader('byIp')
}
