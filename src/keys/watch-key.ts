import { processWide } from '../util/process-wide.js'
import { warnOnce } from '../util/warn-once.js'
import type { KeyFunction } from './key.js'
import { asRequest, peerAddress } from './request.js'

/** A limit is reported after this many subjects in a row without a key: it probably applies to none. */
const WITHOUT_KEY = 100
/** How many keys of a function are compared with the address of their request. */
const COMPARED = 20

const skipping = processWide('skippingKeys', () => new WeakSet<KeyFunction<never>>())

/** Marks a key function that returns `undefined` because its options say so; returns it. */
export function markSkipping<K extends KeyFunction<never>>(key: K): K {
  skipping.add(key)
  return key
}

/**
 * Creates a watch on the results of a key function. It warns if many results in a row are `undefined`,
 * because the limit then applies to none of those subjects. It also warns if a result is a bare IPv6
 * address, because one client has a whole network of them.
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
    return false // the key did not read the address, so the application must not see this error
  }
}

function warnOfNoKey(name: string): void {
  warnOnce(
    'HEADGATE_KEY_UNDEFINED',
    `headgate: the key function ${name} returned undefined ${WITHOUT_KEY} times in a row, so its limit applied ` +
      'to nothing. Mount the limiter after the middleware that the key needs, or return null to count by IP ' +
      'address.',
    name,
  )
}

function warnOfAddress(name: string, address: string): void {
  if (address.startsWith('::ffff:')) return // an IPv4 address: a client has only one
  warnOnce(
    'HEADGATE_KEY_IS_IPV6',
    `headgate: the key function ${name} returned an IPv6 address unchanged. A client can use every address ` +
      'of its network, and each has its own limit. Write byIp() or byUser(), which count by network.',
    name,
  )
}
