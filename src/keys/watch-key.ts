import { warnOnce } from '../util/warn-once.js'
import type { KeyFunction } from './key.js'
import { asRequest, peerAddress } from './request.js'

/** This many subjects, from the first one on, without a key: the function probably never returns one. */
const WITHOUT_KEY = 100
/** How many keys are compared with the address of their request. */
const COMPARED = 20

const skipping = new WeakSet<KeyFunction<never>>()

/** Marks a key function that returns `undefined` because its options say so; returns it. */
export function markSkipping<K extends KeyFunction<never>>(key: K): K {
  skipping.add(key)
  return key
}

/**
 * Creates a watch on the first results of a key function. It warns if all of them are `undefined`, so that
 * the limit applies to no subject, and of addresses of IPv6 as they are: a client has a whole network of them.
 */
export function keyWatch(key: KeyFunction<never>): (value: unknown, subject: unknown) => void {
  const name = key.name || '(anonymous)'
  let withoutKey = skipping.has(key) ? WITHOUT_KEY : 0
  let compared = 0

  return function watchKey(value, subject) {
    if (value === undefined) {
      if (withoutKey < WITHOUT_KEY && ++withoutKey === WITHOUT_KEY) warnOfNoKey(name)
      return
    }
    withoutKey = WITHOUT_KEY
    if (compared === COMPARED || typeof value !== 'string' || !value.includes(':')) return
    compared++
    if (value === asRequest(subject).ip || value === peerAddress(subject)) warnOfAddress(name, value)
  }
}

function warnOfNoKey(name: string): void {
  warnOnce(
    'HEADGATE_KEY_UNDEFINED',
    `headgate: the key function ${name} returned undefined for the first ${WITHOUT_KEY} subjects, and its limit does not ` +
      'apply to any of them. Write req.user?.id ?? null to limit those without a key by their address, and mount the limiter ' +
      'behind the middleware that the key needs.',
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
