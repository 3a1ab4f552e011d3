import { stringifySetCookie } from 'cookie'

/**
 * Begins the name of every device cookie. Browsers accept such a name only from the host itself, over TLS
 * (RFC 6265bis §4.1.3.2).
 */
export const DEVICE_COOKIE = '__Host-headgate-device-'
/** How many a browser keeps, of all guards of a host: each takes about 100 bytes of every request. */
const MAX_COOKIES = 10

const PAIR = new RegExp(`(?:^|;)[ \\t]*(${DEVICE_COOKIE}[\\w-]{8})[ \\t]*=([^;]*)`, 'g')
/** The device cookies of a browser that has none. */
export const NO_COOKIES: ReadonlyMap<string, string> = new Map()

/**
 * Returns the device cookies of a `Cookie` header by name, of all guards of the host. Other cookies are not
 * parsed: a header of 16 KB may hold thousands, and every refused attempt would pay for them. As in the
 * package cookie, whitespace around names and values is ignored, and the first cookie of a name is used.
 */
export function readDeviceCookies(header: string | undefined): ReadonlyMap<string, string> {
  if (header === undefined || !header.includes(DEVICE_COOKIE)) return NO_COOKIES
  const cookies = new Map<string, string>()
  for (const [, name = '', value = ''] of header.matchAll(PAIR)) {
    if (!cookies.has(name)) cookies.set(name, value.trim())
  }
  return cookies
}

/** Returns the `Set-Cookie` headers that set a cookie and remove the surplus of `others`. */
export function setDeviceCookies(
  name: string,
  value: string,
  lastsMs: number,
  others: ReadonlyMap<string, string>,
): string[] {
  const surplus = surplusBeside(name, others).map((old) => setCookie(old, '', 0))
  return [setCookie(name, value, Math.ceil(lastsMs / 1000)), ...surplus]
}

/**
 * Returns the names of the surplus cookies beside a new one, those that expire first. At most ten for each
 * response, so that its headers stay small, whatever a browser holds.
 */
function surplusBeside(kept: string, cookies: ReadonlyMap<string, string>): string[] {
  const others = [...cookies].filter(([name]) => name !== kept)
  const sorted = others.map(([name, proof]) => ({ name, expires: secondsOf(proof.split('.')[1] ?? '') }))
  sorted.sort((a, b) => a.expires - b.expires)
  const surplus = Math.max(0, others.length + 1 - MAX_COOKIES)
  return sorted.slice(0, Math.min(surplus, MAX_COOKIES)).map(({ name }) => name)
}

/** Reads the time at which a proof expires, in seconds since 1970; 0 where there is none. */
export function secondsOf(expires: string): number {
  return Number.parseInt(expires, 36) || 0
}

function setCookie(name: string, value: string, maxAge: number): string {
  return stringifySetCookie({ name, value, maxAge, path: '/', httpOnly: true, secure: true, sameSite: 'lax' })
}
