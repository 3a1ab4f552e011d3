import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { show } from '../../util/validate.js'
import { RequestError } from './respond.js'

/** A name or an IP address, with or without a port: `limits.example.com`, `[::1]:3000`. */
const HOST = /^(?:\[([\da-f:.]+)\]|([^\s:/?#@*[\]\\]+))(?::\d{1,5})?$/i

/** Returns the host that a request is for. HTTP/2 has it in `:authority`. */
export function hostOf({ headers }: IncomingMessage): string | undefined {
  const { ':authority': authority, host } = headers
  return typeof authority === 'string' ? authority : host
}

/** Returns the name or the IP address in a host, without its port; `undefined` if the host is invalid. */
export function nameOf(host: string): string | undefined {
  const [, ipv6, name = ipv6] = HOST.exec(host) ?? []
  return name?.toLowerCase()
}

/**
 * Throws unless a request is for an IP address, `localhost`, or a name in `hosts`.
 *
 * A foreign site can point its own name at this server (DNS rebinding). Requests from its page are then
 * same-origin, and come from the visitor's machine, so they pass any check of the address. But they name the
 * foreign host. No site can redirect IP addresses or `localhost`, and a request without a host is not from a
 * browser.
 */
export function checkHost(req: IncomingMessage, hosts: readonly string[]): void {
  const host = hostOf(req)
  if (host === undefined) return
  const name = nameOf(host)
  if (name === undefined) throw new RequestError(400, 'The Host header is invalid.')
  if (isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost')) return
  if (hosts.some((listed) => nameOf(listed) === name)) return
  const fix = `If this name is yours, write hosts: [${show(host)}] in the options of dashboard.`
  throw new RequestError(403, `The dashboard is not served at ${show(host)}. ${fix}`)
}
