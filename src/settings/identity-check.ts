import { addressIdentity, parseAddress } from '../keys/address.js'
import { addressUseOf } from '../keys/source-address.js'
import type { Entry } from '../limiter/read-limits.js'
import type { SettingsOverride } from '../limiter/settings-document.js'
import { wrongOption } from '../util/validate.js'
import { rawIdentity } from './read-override.js'

/**
 * Returns a check of the identity of an override. The check throws a `TypeError` if no limit has such
 * identities: if the number of parts differs from the number of keys, or if all keys are `byIp`, which never
 * returns this one.
 */
export function identityCheck(entries: readonly Entry[]): (path: string, override: SettingsOverride) => void {
  const counts = new Set(entries.map(({ key }) => key?.length ?? 1))
  const isByAddress = entries.every(({ key = [] }) => key.every((each) => addressUseOf(each)?.returnsAddress))
  return (path, { identity }) => {
    if (identity === undefined) return
    const count = typeof identity === 'string' ? 1 : identity.length
    if (!counts.has(count)) {
      const numbers = Array.from(counts).join(' or ')
      const must = `one string for each key of a limit (${numbers})`
      const fix = 'Write a string for one key, or an array of strings for several.'
      throw wrongOption('settings', `${path}.identity`, must, identity, fix)
    }
    if (count > 1 || !isByAddress || isOfAddress(rawIdentity(identity))) return
    const fix = `Write network: '${rawIdentity(identity)}', if that is an address or a network.`
    throw wrongOption('settings', `${path}.identity`, 'an identity that byIp returns', identity, fix)
  }
}

/** Returns whether `byIp` may return an identity: an IPv4 address, an IPv6 network, or `unknown`. */
function isOfAddress(identity: string): boolean {
  const [text = '', bits] = identity.split('/')
  const address = parseAddress(text)
  if (address === undefined) return identity === 'unknown'
  return typeof address === 'string'
    ? address === identity
    : bits !== undefined && addressIdentity(address, Number(bits)) === identity
}
