import { addressUseOf } from '../keys/source-address.js'
import type { Entry } from '../limiter/read-limits.js'
import type { SettingsOverride } from '../limiter/settings-document.js'
import { wrongOption } from '../util/validate.js'
import { isOfAddress, rawIdentity, storedParts } from './read-target.js'

/**
 * Creates a check that throws a `TypeError` if no limit can have the identity of an override. Either no
 * limit has as many keys as the identity has parts, or all keys are `byIp`, which never returns such an
 * identity.
 */
export function identityCheck(entries: readonly Entry[]): (path: string, override: SettingsOverride) => void {
  const counts = new Set(entries.map(({ key }) => key?.length ?? 1))
  const isByAddress = entries.every(({ key = [] }) => key.every((each) => addressUseOf(each)?.returnsAddress))
  const numbers = Array.from(counts).join(' or ')

  function checkStored(path: string, storedIdentity: string): void {
    if (counts.has(storedParts(storedIdentity).length)) return
    const must = `one hash or address for each key of a limit (${numbers})`
    throw wrongOption('settings', `${path}.storedIdentity`, must, storedIdentity, "Join several by '|'.")
  }

  return (path, { identity, storedIdentity }) => {
    if (storedIdentity !== undefined) checkStored(path, storedIdentity)
    if (identity === undefined) return
    const count = typeof identity === 'string' ? 1 : identity.length
    if (!counts.has(count)) {
      const must = `one string for each key of a limit (${numbers})`
      const fix = 'Write a string for one key, or an array of strings for several.'
      throw wrongOption('settings', `${path}.identity`, must, identity, fix)
    }
    if (count > 1 || !isByAddress || isOfAddress(rawIdentity(identity))) return
    const fix = `If it is an IP address or a network, write network: '${rawIdentity(identity)}'.`
    throw wrongOption('settings', `${path}.identity`, 'an identity that byIp returns', identity, fix)
  }
}
