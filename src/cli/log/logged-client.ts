import { parseAddress } from '../../keys/address.js'
import { ipv4Number } from './ipv4-number.js'

/** Most addresses look so. Whether it is one is checked where it identifies a client. */
const FOUR_NUMBERS = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/
/** The name of a host, which Apache can log in place of an address. A word without a dot may be anything. */
const HOST_NAME = /^(?:[a-z\d_][a-z\d_-]*(?:\.[a-z\d_-]+)+|localhost)$/i
/** What servers log in place of a missing address, as on a Unix socket. */
const NONE = /^(?:-|\?|unknown|unix:.*|)$/i

/**
 * Returns whether a text is what servers log of a client: an address, a host's name, or that there is none.
 */
export function isLoggedClient(text: string): boolean {
  return (
    ipv4Number(text) >= 0 ||
    FOUR_NUMBERS.test(text) ||
    parseAddress(text) !== undefined ||
    HOST_NAME.test(text) ||
    (text !== '' && isNoAddress(text))
  )
}

/** Returns whether a text is what servers log in place of a missing address. */
export function isNoAddress(text: string): boolean {
  return NONE.test(text)
}
