/** Begins the name of every device cookie. Browsers take such a name only from the host itself, over TLS (RFC 6265bis §4.1.3.2). */
export const DEVICE_COOKIE = '__Host-headgate-device-'

const PAIR = new RegExp(`(?:^|;)[ \\t]*(${DEVICE_COOKIE}[\\w-]{8})[ \\t]*=([^;]*)`, 'g')
const NONE: ReadonlyMap<string, string> = new Map()

/**
 * Returns the device cookies of a `Cookie` header by name, of all guards of the host. All other cookies are passed over, which a header of 16 KB
 * may hold by the thousand: any refused attempt would pay for parsing them. As in the package cookie, blanks around names and values do not
 * count, and the first cookie of a name does.
 */
export function readDeviceCookies(header: string | undefined): ReadonlyMap<string, string> {
  if (header === undefined || !header.includes(DEVICE_COOKIE)) return NONE
  const cookies = new Map<string, string>()
  for (const [, name = '', value = ''] of header.matchAll(PAIR)) {
    if (!cookies.has(name)) cookies.set(name, value.trim())
  }
  return cookies
}
