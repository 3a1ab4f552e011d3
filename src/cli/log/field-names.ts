/** What a request has in a log. */
export type FieldRole = keyof typeof KNOWN_NAMES

/** The fields that `--fields` names: each is the only one of its role. */
export type OwnNames = Partial<Record<FieldRole, string>>

/**
 * The usual names of each field, in nginx, Caddy, Traefik, Envoy, API Gateway, CloudFront, Cloudflare, Azure,
 * Kong, AWS WAF, GCP, Vercel, Heroku, OpenTelemetry, morgan, pino-http, Bunyan and others; the first with a
 * value counts. Words with blanks between them stand for each way to join them, and a dot for a nested field or
 * a part of a name.
 *
 * Times with fractions of a second, at which a request began, and paths as they were sent come before others.
 */
export const KNOWN_NAMES = {
  time: [
    ...['proxy.timestamp', 'msec', 'StartUTC', 'start time', 'request time epoch', 'EdgeStartTimestamp'],
    ...['start time unix nano', 'time unix nano', 'reqTimeSec', 'time', 'timestamp', '@timestamp'],
    ...['timestamp(ms)', 'ts', 'time iso8601', 'time local', 'request time', 'time stamp', 'date'],
    ...['date time', 'datetime', 'event time', 'time generated', 'started at', '__REALTIME_TIMESTAMP'],
    'observed time unix nano',
  ],
  client: [
    ...['proxy.client ip', 'ip', 'remote addr', 'client ip', 'remote ip', 'remote address'],
    ...['client address', 'ClientHost', 'address', 'request.client ip', 'request.remote ip', 'req.ip'],
    ...['req.remote address', 'client.ip', 'client.address', 'client.addr', 'http.client ip', 'source.ip'],
    ...['source.address', 'source ip', 'src ip', 'http request.remote ip', 'request.remote addr'],
    ...['http request.client ip', 'network.client.ip', 'network.peer.address', 'net.sock.peer.addr'],
    ...['net.peer.ip', 'remote host', 'c ip', 'downstream remote address', 'socket ip', 'cliIP', 'client'],
    'remote',
  ],
  forwarded: [
    ...['http x forwarded for', 'x forwarded for', 'request_X-Forwarded-For', 'req.headers.x forwarded for'],
    ...['request.headers.x forwarded for', 'headers.x forwarded for', 'proxy add x forwarded for'],
    ...['forwarded for', 'forwarded', 'http forwarded', 'xff', 'fwd', 'http x real ip', 'x real ip'],
    ...['request_X-Real-Ip', 'req.headers.x real ip', 'request.headers.x real ip', 'headers.x real ip'],
  ],
  user: [
    ...['user', 'remote user', 'user id', 'username', 'ClientUsername', 'request.user id', 'user.id'],
    ...['user.name', 'req.user.id', 'cs username', 'auth'],
  ],
  method: [
    ...['proxy.method', 'method', 'request method', 'http method', 'request.method', 'req.method'],
    ...['http.request.method', 'http.method', 'http request.request method', 'http request.http method'],
    'http request.method',
    ...['verb', 'cs method', 'ClientRequestMethod', 'reqMethod', 'request type'],
  ],
  path: [
    ...['proxy.path', 'original request uri with args', 'request uri', 'path', 'url', 'request path'],
    ...['original url', 'request.uri', 'request.url', 'request.path', 'req.original url', 'req.url'],
    ...['url.original', 'url.path', 'url.full', 'http.url', 'http.target', 'http.path', 'request url'],
    ...['http request.request url', 'http request.uri', 'cs uri stem', 'ClientRequestURI'],
    ...['ClientRequestPath', 'http request.path', 'raw path', 'resource path', 'reqPath', 'resource'],
  ],
  /** nginx' path after its rewrites: used only if there is no other. */
  rewritten: ['uri'],
  /** A method and a path in one. */
  request: ['request', 'request line', 'http request', 'route key'],
} as const

export const ROLES = Object.keys(KNOWN_NAMES) as readonly FieldRole[]
