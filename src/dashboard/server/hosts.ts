import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { show } from '../../util/validate.js'
import { RequestError } from './respond.js'

/** A name or an IP address, and a port where there is one: `limits.example.com`, `[::1]:3000`. */
const HOST = /^(?:\[([\da-f:.]+)\]|([^\s:/?#@*[\]\\]+))(?::\d{1,5})?$/i

/** Returns the host that a request is for. HTTP/2 has it in `:authority`. */
export function hostOf({ headers }: IncomingMessage): string | undefined {
  const { ':authority': authority, host } = headers
  return typeof authority === 'string' ? authority : host
}

/** Returns the name or the IP address in a host, without its port; `undefined` if it is none. */
export function nameOf(host: string): string | undefined {
  const [, ipv6, name = ipv6] = HOST.exec(host) ?? []
  return name?.toLowerCase()
}

/**
 * Throws unless a request is for an IP address, `localhost`, or a name in `hosts`.
 *
 * The page of any site can resolve that site's own name to this server (DNS rebinding). Its requests are then
 * same-origin, and they come from the machine of whoever opened it, so they pass each check of the address.
 * But they are for that name. IP addresses and `localhost` are what they say in every browser, and a request
 * without a host is not from a browser.
 */
export function checkHost(req: IncomingMessage, hosts: readonly string[]): void {
  const host = hostOf(req)
  if (host === undefined) return
  const name = nameOf(host)
  if (name === undefined) throw new RequestError(400, 'The header Host is not a host.')
  if (isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost')) return
  if (hosts.some((listed) => nameOf(listed) === name)) return
  const fix = `If this name is yours, write hosts: [${show(host)}] in the options of dashboard.`
  throw new RequestError(403, `The dashboard is not served at ${show(host)}. ${fix}`)
}
