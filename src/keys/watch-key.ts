import { warnOnce } from '../util/warn-once.js'
import type { KeyFunction } from './key-types.js'
import { asRequest, peerAddress } from './request.js'

/** How many keys of a function are compared with the address of their request. */
const COMPARED = 20

/**
 * Creates a watch on the results of a key function. It warns if one is a bare IPv6 address, because one
 * client has a whole network of them.
 */
export function keyWatch(key: KeyFunction<never>): (value: unknown, subject: unknown) => void {
  const name = typeof key.name === 'string' && key.name !== '' ? key.name : '(anonymous)'
  let compared = 0

  return function watchKey(value, subject) {
    if (compared === COMPARED || typeof value !== 'string' || typeof subject === 'string') return
    if (!value.includes(':')) return
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

function warnOfAddress(name: string, address: string): void {
  if (address.startsWith('::ffff:')) return // an IPv4 address: a client has only one
  warnOnce(
    'HEADGATE_KEY_IS_IPV6',
    `headgate: the key function ${name} returned an IPv6 address unchanged. A client can use every address ` +
      'of its network, and each has its own limit. Write byIp() or byUser(), which count by network.',
    name,
  )
}
