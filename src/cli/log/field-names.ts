/** What a request has in a log. */
export type FieldRole = keyof typeof KNOWN_NAMES

/** The fields that `--fields` names: each is the only one of its role. */
export type OwnNames = Partial<Record<FieldRole, string>>

/**
 * The usual names of each field, in nginx, Caddy, Traefik, Envoy, API Gateway, CloudFront, Cloudflare, Azure,
 * GCP, morgan, pino-http, Bunyan and others; the first with a value counts. Words with blanks between them stand
 * for each way to join them, and a dot for a nested field or a part of a name.
 *
 * Times with fractions of a second, at which a request began, and paths as they were sent come before others.
 */
const KNOWN_NAMES = {
  time: [
    ...['msec', 'StartUTC', 'start time', 'request time epoch', 'EdgeStartTimestamp', 'time', 'timestamp'],
    ...['@timestamp', 'timestamp(ms)', 'ts', 'time iso8601', 'time local', 'request time', 'time stamp'],
    ...['date', 'date time', 'datetime', 'event time', 'time generated', '__REALTIME_TIMESTAMP'],
  ],
  client: [
    ...['ip', 'remote addr', 'client ip', 'remote ip', 'remote address', 'client address'],
    ...['ClientHost', 'address', 'request.client ip', 'request.remote ip', 'req.ip', 'req.remote address'],
    ...['client.ip', 'client.address', 'source.ip', 'source.address', 'source ip', 'http request.remote ip'],
    ...['remote host', 'c ip', 'downstream remote address', 'socket ip', 'client'],
  ],
  forwarded: [
    ...['http x forwarded for', 'x forwarded for', 'request_X-Forwarded-For', 'req.headers.x forwarded for'],
    ...['request.headers.x forwarded for', 'headers.x forwarded for', 'proxy add x forwarded for'],
    ...['forwarded for', 'forwarded', 'http forwarded', 'xff', 'http x real ip', 'x real ip'],
    ...['request_X-Real-Ip', 'req.headers.x real ip', 'request.headers.x real ip', 'headers.x real ip'],
  ],
  user: [
    ...['user', 'remote user', 'user id', 'username', 'ClientUsername', 'request.user id', 'user.id'],
    ...['user.name', 'req.user.id', 'cs username'],
  ],
  method: [
    ...['method', 'request method', 'http method', 'request.method', 'req.method', 'http.request.method'],
    ...['http.method', 'http request.request method', 'verb', 'cs method', 'ClientRequestMethod'],
  ],
  path: [
    ...['request uri', 'original request uri with args', 'path', 'url', 'request path', 'original url'],
    ...[
      'request.uri',
      'request.url',
      'request.path',
      'req.original url',
      'req.url',
      'url.original',
      'url.path',
    ],
    ...[
      'http.url',
      'http.target',
      'http.path',
      'http request.request url',
      'cs uri stem',
      'ClientRequestURI',
    ],
    ...['ClientRequestPath', 'raw path', 'resource path'],
  ],
  /** nginx' path after its rewrites: used only if there is no other. */
  rewritten: ['uri'],
  /** A method and a path in one. */
  request: ['request', 'request line', 'http request', 'route key'],
} as const

/** A name, or the part of one before a dot. */
export interface NameNode {
  /** What the field is, if it is any. */
  readonly uses: NameUse[]
  /** The fields inside it. */
  readonly inner: NameTree
}

export interface NameUse {
  readonly role: FieldRole
  /** Of several fields of a role, the one with the smallest rank counts. */
  readonly rank: number
  /** The field, with dots if it is nested. */
  readonly name: string
}

export type NameTree = Map<string, NameNode>

export const ROLES = Object.keys(KNOWN_NAMES) as readonly FieldRole[]

/** The tree of the usual names, which takes milliseconds to make. */
let usualTree: NameTree | undefined

/** Returns the names of all roles. */
export function nameTree(ownNames: OwnNames): NameTree {
  if (Object.keys(ownNames).length > 0) return makeTree(ownNames)
  usualTree ??= makeTree(ownNames)
  return usualTree
}

function makeTree(ownNames: OwnNames): NameTree {
  const tree: NameTree = new Map()
  for (const role of ROLES) {
    const ownName = ownNames[role]
    if (ownName !== undefined)
      addName(
        tree,
        ownName.split('.').map((part) => [part]),
        { role, rank: 0 },
      )
    else if (!isReplaced(role, ownNames))
      for (const [rank, name] of KNOWN_NAMES[role].entries()) addName(tree, partsOf(name), { role, rank })
  }
  return tree
}

/** A path that is named is not read from another field. */
function isReplaced(role: FieldRole, { path, client, forwarded }: OwnNames): boolean {
  if (role === 'rewritten') return path !== undefined
  return role === 'forwarded' && client !== undefined && forwarded === undefined
}

function partsOf(name: string): string[][] {
  return name.split('.').map(spellingsOf)
}

/** Returns the spellings of words: `client_ip`, `client-ip`, `clientIp`, `clientIP`, `ClientIp`, `CLIENT_IP`. */
function spellingsOf(text: string): string[] {
  const words = text.split(' ')
  if (!/^[a-z\d ]+$/.test(text)) return [text]
  const titles = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  const acronyms = titles.map((word) => (/^(?:ip|id|uri|url)$/i.test(word) ? word.toUpperCase() : word))
  const [first = ''] = words
  return [
    ...[words, titles].flatMap((each) => [each.join('_'), each.join('-')]),
    ...[titles, acronyms].flatMap((each) => [each.join(''), first + each.slice(1).join('')]),
    words.join('').toLowerCase(),
    words.join('_').toUpperCase(),
  ]
}

type Use = Omit<NameUse, 'name'>

/** Adds a name whose parts have several spellings, nested and also with the dots in it. */
function addName(tree: NameTree, parts: readonly (readonly string[])[], use: Use, outer = ''): void {
  const [first = [], ...rest] = parts
  for (const spelling of new Set(first)) {
    const node = nodeOf(tree, spelling)
    if (rest.length === 0) {
      if (!node.uses.some(({ role }) => role === use.role)) node.uses.push({ ...use, name: outer + spelling })
      continue
    }
    addName(node.inner, rest, use, `${outer}${spelling}.`)
    const [second = [], ...others] = rest
    addName(tree, [second.map((each) => `${spelling}.${each}`), ...others], use, outer)
  }
}

function nodeOf(tree: NameTree, name: string): NameNode {
  const existing = tree.get(name)
  if (existing !== undefined) return existing
  const node: NameNode = { uses: [], inner: new Map() }
  tree.set(name, node)
  return node
}
