import { addressIdentity, parseAddress } from '../keys/address.js'
import { readRange } from '../keys/address-list.js'
import type { Embedding } from '../keys/embedded-ipv4.js'
import { hostBitsProblem } from '../keys/host-bits.js'
import { type Range, rangeText } from '../keys/network-key.js'
import { show, wrongOption } from '../util/validate.js'

/** The length of the longest string in an identity. */
const MAX_IDENTITY = 1024
const MAX_KEYS = 8
/** The length of the longest prefix. */
const MAX_PREFIX = 64
/** What stores keep in place of a value of a key function. */
const HASH = /^[\w-]{22}$/

/** Returns an identity of one string as a string, and any other as an array. */
export function readIdentity(owner: string, path: string, identity: unknown): string | readonly string[] {
  const texts: readonly unknown[] = Array.isArray(identity) ? identity : [identity]
  const isValid = texts.length <= MAX_KEYS && texts.every((text) => isText(text, MAX_IDENTITY))
  if (isValid && texts.length === 1) return texts[0] as string
  if (isValid && texts.length > 0) return texts as readonly string[]
  const must = `a string of 1 to ${MAX_IDENTITY} characters, or an array of 1 to ${MAX_KEYS} such strings`
  throw wrongOption(owner, path, must, identity, 'Write what the key function returns, as a string.')
}

/** Reads an identity that a store may keep: hashes and addresses, joined by `|` if there are several keys. */
export function readStoredIdentity(owner: string, path: string, identity: unknown): string {
  if (typeof identity === 'string' && storedParts(identity).every(isStoredPart)) return identity
  const must = 'an identity as stores keep it: a hash of 22 characters, or an address'
  const fix =
    "Copy it from a decision, a log or the dashboard. For what a key function returns, write 'identity'."
  throw wrongOption(owner, path, must, identity, fix)
}

/** Returns the parts of an identity as stores keep it, one for each key function. */
export function storedParts(storedIdentity: string): readonly string[] {
  return storedIdentity.split('|')
}

function isStoredPart(part: string): boolean {
  return HASH.test(part) || isOfAddress(part)
}

/** Returns whether `byIp` may return an identity: an IPv4 address, an IPv6 network, or `unknown`. */
export function isOfAddress(identity: string): boolean {
  const [text = '', bits] = identity.split('/')
  const address = parseAddress(text)
  if (address === undefined) return identity === 'unknown'
  return typeof address === 'string'
    ? address === identity
    : bits !== undefined && addressIdentity(address, Number(bits)) === identity
}

export function readPrefix(owner: string, path: string, prefix: unknown): string {
  if (isText(prefix, MAX_PREFIX)) return prefix
  throw wrongOption(owner, path, `a string of 1 to ${MAX_PREFIX} characters`, prefix)
}

/** Returns whether an identity can have such a text. None contains NUL or half a surrogate pair. */
function isText(value: unknown, maxLength: number): value is string {
  if (typeof value !== 'string' || value === '' || value.length > maxLength) return false
  return !value.includes('\0') && value.isWellFormed()
}

/**
 * Returns a text that equal networks share. Throws a `TypeError` if its author may have meant one address.
 */
export function readNetworkText(owner: string, path: string, network: unknown): string {
  const problem = hostBitsProblem(network)
  if (problem !== undefined) throw new TypeError(`${owner}: ${path} ${problem}`)
  const range = readNetwork(`${owner}: ${path}`, network)
  return rangeText(range)
}

/** Returns the range of a network. Throws a `TypeError` that names its `place`. */
export function readNetwork(place: string, network: unknown, embeddings?: readonly Embedding[]): Range {
  const must = `${place} must be an IP address or a CIDR range, got ${show(network)}.`
  return readRange(must, network, embeddings)
}

/** Returns the text by which an identity is looked up. No part contains the separator `'\0'`. */
export function rawIdentity(identity: string | readonly string[]): string {
  return typeof identity === 'string' ? identity : identity.join('\0')
}
