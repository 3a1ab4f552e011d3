/**
 * The prefix of every device cookie's name. Browsers accept it only from the host itself, over TLS
 * (RFC 6265bis §4.1.3.2).
 */
export const DEVICE_COOKIE = '__Host-headgate-device-'
/** The most device cookies of all guards that a browser keeps: each adds 100 bytes to every request. */
const MAX_COOKIES = 10

const PAIR = new RegExp(`(?:^|;)[ \\t]*(${DEVICE_COOKIE}[\\w-]{8})[ \\t]*=([^;]*)`, 'g')

/**
 * Returns the device cookies of a `Cookie` header by name, of all guards of the host. Other cookies are not
 * parsed: a header of 16 KB may hold thousands, and every denied attempt would pay for them. As in the
 * package cookie, whitespace around names and values is ignored, and the first cookie of a name is used.
 */
export function readDeviceCookies(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>()
  if (!header?.includes(DEVICE_COOKIE)) return cookies
  for (const [, name = '', value = ''] of header.matchAll(PAIR)) {
    if (!cookies.has(name)) cookies.set(name, value.trim())
  }
  return cookies
}

/**
 * Returns the `Set-Cookie` headers that set a cookie, and remove surplus others, those that expire first. At
 * most ten are removed by each response, so that its headers stay small, whatever a browser holds.
 */
export function setDeviceCookies(
  name: string,
  value: string,
  lastsMs: number,
  cookies: ReadonlyMap<string, string>,
): string[] {
  const cookie = setCookie(name, value, Math.ceil(lastsMs / 1000))
  if (cookies.size < MAX_COOKIES) return [cookie]
  const others = [...cookies].filter(([other]) => other !== name)
  others.sort(([, a], [, b]) => secondsOf(a.split('.')[1]) - secondsOf(b.split('.')[1]))
  const surplus = Math.min(others.length + 1 - MAX_COOKIES, MAX_COOKIES)
  return [cookie, ...others.slice(0, surplus).map(([other]) => setCookie(other, '', 0))]
}

/** Reads the time at which a proof expires, in seconds since 1970; 0 if there is none. */
export function secondsOf(expires = ''): number {
  return Number.parseInt(expires, 36) || 0
}

/** Returns the `Set-Cookie` header of a name and value that need no escaping. */
function setCookie(name: string, value: string, maxAge: number): string {
  return `${name}=${value}; Max-Age=${maxAge}; Path=/; HttpOnly; Secure; SameSite=Lax`
}
