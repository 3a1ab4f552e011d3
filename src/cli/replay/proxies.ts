import { EMBEDDINGS } from '../../keys/embedded-ipv4.js'
import { readTrust } from '../../keys/forwarded-address.js'
import { UsageError } from '../failures.js'
import { clientAddress, type ProxyTest } from '../log/client-address.js'
import { isNoAddress } from '../log/logged-client.js'
import { isPrivateAddress } from '../log/private-address.js'
import type { LoggedRequest } from '../log/request-line.js'

/**
 * Reads the option `--trust-proxy`: which addresses are proxies', so that the client is in the forwarded
 * list. A number and a list of addresses mean what they mean for the middleware's `trustProxy`.
 */
export function readProxies(text: string): ProxyTest {
  if (text === 'none') return () => false
  if (text === 'private') return isPrivateAddress
  try {
    return readTrust('cli', /^\d+$/.test(text) ? Number(text) : text, EMBEDDINGS)
  } catch {
    const must = 'private, none, the number of proxies, or their IP addresses and CIDR ranges'
    const example = 'such as --trust-proxy 1 or --trust-proxy 10.0.0.0/8,192.0.2.7'
    throw new UsageError(`--trust-proxy must be ${must}, got ${JSON.stringify(text)}; write it ${example}`)
  }
}

/** If all traffic comes from a CDN, at least this share of the connections that are not private forward an address. */
const NEARLY_ALL = 0.9

/**
 * Decides which addresses are proxies', by the first requests of a log: private ones, and those of all
 * connections if nearly all the public ones forward an address. Where clients connect themselves, few do.
 */
export function learnProxies(requests: readonly Pick<LoggedRequest, 'address' | 'forwarded'>[]): ProxyTest {
  const fromPublic = requests.filter(({ address }) => !isNoAddress(address) && !isPrivateAddress(address))
  const forwarding = fromPublic.filter(({ forwarded }) => isNamed(clientAddress('', forwarded)))
  if (forwarding.length === 0 || forwarding.length < NEARLY_ALL * fromPublic.length) return isPrivateAddress
  return (address, place) => place === 0 || isPrivateAddress(address)
}

function isNamed(client: string): boolean {
  return client !== '' && !isPrivateAddress(client)
}
