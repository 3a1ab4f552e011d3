/** An IPv6 address: its eight groups of 16 bits. */
export type Ipv6 = readonly number[]

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const PLAIN_IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`)

/** Returns whether a text is an IPv4 address in the form that every program reads the same way. */
export function isPlainIpv4(text: string): boolean {
  return PLAIN_IPV4.test(text)
}

const GROUPS = 8
const GROUP = /^[\da-f]{1,4}$/i

/** Parses an IPv6 address without a port, brackets or a zone. Its last 32 bits may be in dotted form. */
export function parseIpv6(text: string): Ipv6 | undefined {
  const [head = '', tail, ...more] = withoutDots(text).split('::')
  const first = groupsOf(head)
  const last = groupsOf(tail)
  const missing = GROUPS - first.length - last.length
  if (more.length > 0 || (tail === undefined ? missing !== 0 : missing < 1)) return undefined
  const groups = [...first, ...Array(missing).fill('0'), ...last]
  return groups.every((group) => GROUP.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined
}

function groupsOf(text: string | undefined): string[] {
  return text ? text.split(':') : []
}

/** Returns an IPv6 address with its last 32 bits in hexadecimal. */
function withoutDots(text: string): string {
  const [, head, dotted = ''] = /^(.*:)([^:]*\.[^:]*)$/.exec(text) ?? []
  if (head === undefined) return text
  if (!isPlainIpv4(dotted)) return ''
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
  return head + hexadecimal([a * 256 + b, c * 256 + d])
}

/** Formats an IPv6 address by RFC 5952 §4: the first of the longest runs of zeros is `::`. */
export function formatIpv6(address: Ipv6): string {
  let start = 0
  let length = 1
  for (let i = 0; i < GROUPS; i++) {
    let end = i
    while (address[end] === 0) end++
    if (end - i > length) {
      start = i
      length = end - i
    }
  }
  if (length === 1) return hexadecimal(address)
  return `${hexadecimal(address.slice(0, start))}::${hexadecimal(address.slice(start + length))}`
}

function hexadecimal(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(':')
}

/** Returns the network of an address: its first `prefix` bits, followed by zeros. */
export function ipv6Network(address: Ipv6, prefix: number): Ipv6 {
  return address.map((group, i) => {
    const dropped = Math.min(16, Math.max(0, 16 * (i + 1) - prefix))
    return group & (0xffff << dropped)
  })
}
