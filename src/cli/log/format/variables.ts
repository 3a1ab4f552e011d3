/** What a replay reads of a line. */
export type Role = 'address' | 'forwarded' | 'user' | 'time' | 'request' | 'method' | 'path'

/** A part of a log format that stands for a value. */
export interface Variable {
  /** As it was given, such as `$remote_addr` or `%h`. */
  readonly name: string
  readonly role: Role | undefined
  /** Of several with one role, the one with the smallest rank is read. */
  readonly rank: number
}

/** The variables of nginx for each role, the most precise first. */
const NGINX: Readonly<Record<Role, readonly string[]>> = {
  address: ['remote_addr', 'proxy_protocol_addr', 'realip_remote_addr'],
  forwarded: [
    ...['http_cf_connecting_ip', 'http_true_client_ip', 'http_fly_client_ip', 'http_x_forwarded_for'],
    ...['http_forwarded', 'http_x_real_ip', 'proxy_add_x_forwarded_for'],
  ],
  user: ['remote_user'],
  time: ['msec', 'time_iso8601', 'time_local'],
  request: ['request'],
  method: ['request_method'],
  path: ['request_uri', 'uri', 'document_uri'],
}

const ROLES = Object.keys(NGINX) as Role[]

/** The names that a misspelled variable of nginx may have meant. */
export const NGINX_NAMES: readonly string[] = Object.values(NGINX).flat()

/** Returns the variable of nginx with this name; nginx' modules and `map` define others, which are not read. */
export function nginxVariable(name: string): Variable {
  const role = ROLES.find((each) => NGINX[each].includes(name))
  return { name: `$${name}`, role, rank: role === undefined ? 0 : NGINX[role].indexOf(name) }
}

/** The directives of Apache, without those that have an argument. */
const APACHE: Readonly<Record<string, readonly [role: Role, rank: number]>> = {
  a: ['address', 0],
  h: ['address', 1],
  u: ['user', 0],
  t: ['time', 1],
  r: ['request', 0],
  m: ['method', 0],
  U: ['path', 0],
}

/** The other directives without an argument, and those that have one. */
const APACHE_OTHERS = 'ABbDfHIklLOpPqRsSTvVX'
const APACHE_WITH_ARGUMENT = 'aCeinophPtT'

/** Returns the directive of Apache with this letter; `undefined` if there is none. */
export function apacheDirective(
  name: string,
  letter: string,
  argument: string | undefined,
): Variable | undefined {
  if (argument === undefined) {
    const [role, rank = 0] = Object.hasOwn(APACHE, letter) ? (APACHE[letter] ?? []) : []
    return role === undefined && !APACHE_OTHERS.includes(letter) ? undefined : { name, role, rank }
  }
  if (!APACHE_WITH_ARGUMENT.includes(letter)) return undefined
  if (letter === 'a' || letter === 'h') return { name, role: 'address', rank: 2 }
  if (letter === 't') return { name, role: 'time', rank: 0 }
  const header = nginxVariable(`http_${argument.toLowerCase().replaceAll('-', '_')}`)
  const isForwarded = letter === 'i' && header.role === 'forwarded'
  return { name, role: isForwarded ? 'forwarded' : undefined, rank: header.rank }
}
