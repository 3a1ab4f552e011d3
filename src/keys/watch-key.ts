import { processWide } from '../util/process-wide.js'
import { warnOnce } from '../util/warn-once.js'
import type { KeyFunction } from './key.js'
import { asRequest, peerAddress } from './request.js'

/** This many subjects in a row without a key: they are probably limited nowhere. */
const WITHOUT_KEY = 100
/** How many keys are compared with the address of their request. */
const COMPARED = 20

const skipping = processWide('skippingKeys', () => new WeakSet<KeyFunction<never>>())

/** Marks a key function that returns `undefined` because its options say so; returns it. */
export function markSkipping<K extends KeyFunction<never>>(key: K): K {
  skipping.add(key)
  return key
}

/**
 * Creates a watch on the results of a key function. It warns in two cases: many results in a row are
 * `undefined`, so the limit applies to none of those subjects; or a result is a bare IPv6 address, although one
 * client has a whole network of them.
 */
export function keyWatch(key: KeyFunction<never>): (value: unknown, subject: unknown) => void {
  const name = typeof key.name === 'string' && key.name !== '' ? key.name : '(anonymous)'
  let withoutKey = 0
  let isReported = skipping.has(key)
  let compared = 0

  return function watchKey(value, subject) {
    if (value === undefined) {
      if (isReported || ++withoutKey < WITHOUT_KEY) return
      isReported = true
      warnOfNoKey(name)
      return
    }
    withoutKey = 0
    if (compared === COMPARED || typeof value !== 'string' || !value.includes(':')) return
    compared++
    if (isAddressOf(subject, value)) warnOfAddress(name, value)
  }
}

function isAddressOf(subject: unknown, value: string): boolean {
  try {
    return value === asRequest(subject).ip || value === peerAddress(subject)
  } catch {
    return false // the key itself did not read the address, so its error is not the application's
  }
}

function warnOfNoKey(name: string): void {
  warnOnce(
    'HEADGATE_KEY_UNDEFINED',
    `headgate: the key function ${name} returned undefined for ${WITHOUT_KEY} subjects in a row, and its limit applies to ` +
      'none of them. Return null in place of undefined to limit them by their address, and mount the limiter behind the ' +
      'middleware that the key needs.',
    name,
  )
}

function warnOfAddress(name: string, address: string): void {
  if (address.startsWith('::ffff:')) return // an IPv4 address, of which a client has one
  warnOnce(
    'HEADGATE_KEY_IS_IPV6',
    `headgate: the key function ${name} returned an IPv6 address as it is. A client can use any address of its network, ` +
      'each with a limit of its own. Write byIp(), or byUser() for users and addresses, which limit by network.',
    name,
  )
}
