import { readJson, readLines } from './json-reader.js'

const TIME_MS = Date.UTC(2026, 10, 28, 10, 0, 0)
const GET = { timeMs: TIME_MS, address: '198.51.100.7', user: undefined, method: 'GET', path: '/users' }
const ADA = { ...GET, user: 'ada' }

const OTLP = {
  body: { stringValue: 'a request' },
  attributes: [
    { key: 'http.request.method', value: { stringValue: 'GET' } },
    { key: 'url.path', value: { stringValue: '/users' } },
    { key: 'http.response.status_code', value: { intValue: '200' } },
    { key: 'client.address', value: { stringValue: '198.51.100.7' } },
    { key: 'tags', value: { arrayValue: { values: [] } } },
    { key: 'wrong' },
  ],
}

const FORMATS: [string, string | object, object][] = [
  [
    'nginx behind a load balancer, with flaws',
    String.raw`{"time":"2026-11-28T10:00:00+00:00","remote_addr":"10.0.3.4","http_x_forwarded_for":"198.51.100.7","request":"GET /\x22a HTTP/1.1","status":200,"bytes":-}`,
    { ...GET, path: '/"a' },
  ],
  [
    'nginx with a list of times of several servers',
    '{"msec":1795860000.000,"upstream_response_time":0.001, 0.002,"remote_addr":"198.51.100.7","request_method":"GET","request_uri":"/users?a"}',
    GET,
  ],
  [
    'API Gateway, REST',
    {
      ...{
        requestId: 'a',
        ip: '198.51.100.7',
        caller: '-',
        user: '-',
        requestTime: '28/Nov/2026:10:00:00 +0000',
      },
      ...{
        httpMethod: 'GET',
        resourcePath: '/users',
        status: '200',
        protocol: 'HTTP/1.1',
        responseLength: '12',
      },
    },
    GET,
  ],
  [
    'API Gateway, HTTP',
    {
      ...{ requestId: 'a', ip: '198.51.100.7', requestTimeEpoch: '1795860000000' },
      ...{
        requestTime: '28/Nov/2026:09:59:59 +0000',
        routeKey: 'GET /users',
        status: '200',
        protocol: 'HTTP/1.1',
      },
    },
    GET,
  ],
  [
    'Envoy',
    {
      ...{ start_time: '2026-11-28T10:00:00.000Z', method: 'GET', path: '/users?x', protocol: 'HTTP/1.1' },
      ...{ response_code: 200, duration: 3, x_forwarded_for: null, user_agent: 'curl/8', request_id: 'a' },
      ...{ downstream_remote_address: '198.51.100.7:51234', upstream_host: '10.0.0.9:80' },
    },
    { ...GET, address: '198.51.100.7:51234' },
  ],
  [
    'Istio, behind a load balancer',
    {
      ...{ start_time: '2026-11-28T10:00:00.000Z', method: 'GET', path: '/users', authority: 'a.example' },
      ...{ x_forwarded_for: '198.51.100.7,10.4.0.1', downstream_remote_address: '10.4.0.1:0' },
    },
    GET,
  ],
  [
    'Caddy before 2.5',
    {
      ...{ level: 'info', ts: 1795860000, logger: 'http.log.access', msg: 'handled request', status: 200 },
      request: { remote_addr: '198.51.100.7:4711', method: 'GET', host: 'a.example', uri: '/users?a' },
    },
    { ...GET, address: '198.51.100.7:4711' },
  ],
  [
    'Kong',
    {
      ...{ client_ip: '198.51.100.7', started_at: TIME_MS, response: { status: 200 } },
      request: { method: 'GET', uri: '/users', url: 'http://a.example/users' },
    },
    GET,
  ],
  [
    'AWS WAF',
    {
      ...{ timestamp: TIME_MS, formatVersion: 1, action: 'ALLOW' },
      httpRequest: { clientIp: '198.51.100.7', uri: '/users', args: 'a', httpMethod: 'GET' },
    },
    GET,
  ],
  [
    'Fluentd, which has split a line',
    {
      ...{ remote: '198.51.100.7', host: '-', user: 'ada', method: 'GET', path: '/users?a', code: '200' },
      ...{ size: '12', referer: '-', agent: 'curl/8', time: '2026-11-28T10:00:00Z' },
    },
    ADA,
  ],
  [
    'Logstash, which has split a line',
    {
      ...{ '@timestamp': '2026-11-28T10:00:00.000Z', clientip: '198.51.100.7', ident: '-', auth: 'ada' },
      ...{
        verb: 'GET',
        path: '/var/log/access.log',
        request: '/users?a',
        httpversion: '1.1',
        response: '200',
        bytes: '12',
      },
    },
    ADA,
  ],
  [
    'Azure Application Gateway, of a path that it has rewritten',
    {
      ...{ timeStamp: '2026-11-28T10:00:00+00:00', category: 'ApplicationGatewayAccessLog' },
      properties: {
        ...{ clientIP: '198.51.100.7', httpMethod: 'GET', originalRequestUriWithArgs: '/users?a' },
        ...{ requestUri: '/internal', requestQuery: 'a' },
      },
    },
    GET,
  ],
  [
    'CloudFront in JSON',
    {
      ...{ date: '2026-11-28', time: '10:00:00', 'c-ip': '198.51.100.7', 'cs-method': 'GET' },
      ...{
        'cs(Host)': 'd.cloudfront.net',
        'cs-uri-stem': '/users',
        'cs-uri-query': 'a=1',
        'sc-status': '200',
      },
    },
    GET,
  ],
  [
    'CloudFront in real time',
    { timestamp: '1795860000.000', 'c-ip': '198.51.100.7', 'cs-method': 'GET', 'cs-uri-stem': '/users' },
    GET,
  ],
  [
    'Cloudflare Logpush',
    {
      ...{ ClientIP: '198.51.100.7', ClientRequestHost: 'a.example', ClientRequestMethod: 'GET' },
      ...{ ClientRequestURI: '/users?page=2', EdgeEndTimestamp: '2026-11-28T10:00:01Z' },
      ...{ EdgeStartTimestamp: '2026-11-28T10:00:00Z', RayID: 'a' },
    },
    GET,
  ],
  [
    'Cloudflare Logpush with times in nanoseconds',
    {
      ClientIP: '198.51.100.7',
      ClientRequestMethod: 'GET',
      ClientRequestPath: '/users',
      EdgeStartTimestamp: '1795860000000000000',
    },
    GET,
  ],
  [
    'Azure App Service',
    {
      ...{
        time: '2026-11-28T10:00:00.0000000Z',
        resourceId: '/SUBSCRIPTIONS/A',
        category: 'AppServiceHTTPLogs',
      },
      properties: JSON.stringify({
        CsHost: 'a',
        CIp: '198.51.100.7',
        CsMethod: 'GET',
        CsUriStem: '/users',
        CsUsername: 'ada',
      }),
    },
    ADA,
  ],
  [
    'Azure Front Door',
    {
      ...{ time: '2026-11-28T10:00:00.0000000Z', category: 'FrontDoorAccessLog', operationName: 'x' },
      properties: {
        clientIp: '198.51.100.7',
        socketIp: '203.0.113.1',
        httpMethod: 'GET',
        requestUri: 'https://a.example:443/users?a',
      },
    },
    GET,
  ],
  [
    'Azure Application Gateway',
    {
      ...{ timeStamp: '2026-11-28T10:00:00+00:00', category: 'ApplicationGatewayAccessLog' },
      properties: {
        clientIP: '198.51.100.7',
        clientPort: 4711,
        httpMethod: 'GET',
        requestUri: '/users',
        httpStatus: 200,
      },
    },
    GET,
  ],
  [
    'morgan in JSON',
    {
      'remote-addr': '::ffff:198.51.100.7',
      'remote-user': 'ada',
      date: 'Sat, 28 Nov 2026 10:00:00 GMT',
      method: 'GET',
      url: '/users?a',
      status: '200',
    },
    { ...ADA, address: '::ffff:198.51.100.7' },
  ],
  [
    'the load balancer of GCP',
    {
      ...{
        insertId: 'a',
        timestamp: '2026-11-28T10:00:00.000000Z',
        receiveTimestamp: '2026-11-28T10:00:09Z',
      },
      jsonPayload: { statusDetails: 'response_sent_by_backend', remoteIp: '203.0.113.1' },
      httpRequest: {
        requestMethod: 'GET',
        requestUrl: 'https://a.example/users?a',
        remoteIp: '198.51.100.7',
        status: 200,
      },
    },
    GET,
  ],
  [
    'Traefik, behind a load balancer',
    {
      ...{
        StartUTC: '2026-11-28T10:00:00Z',
        time: '2026-11-28T10:20:00Z',
        ClientHost: '10.0.0.1',
        ClientUsername: '-',
      },
      ...{ RequestMethod: 'GET', RequestPath: '/users', 'request_X-Forwarded-For': '198.51.100.7' },
    },
    GET,
  ],
  [
    'Caddy, behind a load balancer',
    {
      ts: 1795860000,
      user_id: '',
      request: {
        remote_ip: '10.0.0.1',
        method: 'GET',
        uri: '/users',
        headers: { 'X-Forwarded-For': ['203.0.113.1', '198.51.100.7'] },
      },
    },
    GET,
  ],
  [
    'pino-http, behind a load balancer',
    {
      ...{
        level: 30,
        time: 1795860000000,
        msg: 'request completed',
        responseTime: 3,
        res: { statusCode: 200 },
      },
      req: {
        method: 'GET',
        url: '/users',
        remoteAddress: '::ffff:10.0.0.1',
        headers: { 'x-forwarded-for': '198.51.100.7' },
      },
    },
    GET,
  ],
  [
    'express-winston, which logs the address',
    {
      ...{ level: 'info', message: 'HTTP GET /users', timestamp: '2026-11-28T10:00:00.000Z' },
      meta: {
        req: { url: '/users', ip: '198.51.100.7', method: 'GET', originalUrl: '/users?a', headers: {} },
        ...{ res: { statusCode: 200 }, responseTime: 3 },
      },
    },
    GET,
  ],
  [
    'express-winston, behind a load balancer',
    {
      ...{ level: 'info', message: 'HTTP GET /users', timestamp: '2026-11-28T10:00:00.000Z' },
      meta: {
        req: { url: '/users', method: 'GET', headers: { 'x-forwarded-for': '203.0.113.1, 198.51.100.7' } },
        ...{ res: { statusCode: 200 }, responseTime: 3 },
      },
    },
    GET,
  ],
  [
    'the old names of OpenTelemetry',
    {
      ...{ timestamp: '2026-11-28T10:00:00Z', body: 'a request' },
      attributes: {
        ...{ 'http.method': 'GET', 'http.target': '/users?a', 'http.client_ip': '198.51.100.7' },
        'net.peer.ip': '10.0.0.1',
      },
    },
    GET,
  ],
  [
    'the names of OpenTelemetry',
    {
      Timestamp: '2026-11-28T10:00:00Z',
      Attributes: {
        ...{ 'http.request.method': 'GET', 'url.path': '/users', 'client.address': '198.51.100.7' },
        'network.peer.address': '10.0.0.1',
      },
    },
    GET,
  ],
  ['a record of OTLP', { timeUnixNano: '1795860000000000000', ...OTLP }, GET],
  [
    'a span of OTLP',
    { kind: 2, startTimeUnixNano: '1795860000000000000', endTimeUnixNano: '1795860009000000000', ...OTLP },
    GET,
  ],
  [
    'Vercel',
    {
      ...{
        id: '1',
        message: '',
        timestamp: 1795860009000,
        source: 'static',
        path: '/[page]',
        requestId: 'a',
      },
      proxy: {
        ...{ timestamp: 1795860000000, method: 'GET', path: '/users?a', userAgent: ['curl'] },
        clientIp: '198.51.100.7',
      },
    },
    GET,
  ],
  [
    'Fly',
    {
      ...{ event: { provider: 'app' }, fly: { app: { name: 'a' } }, log: { level: 'info' } },
      message: '198.51.100.7 - - [28/Nov/2026:10:00:00 +0000] "GET /users HTTP/1.1" 200 12',
      timestamp: '2026-11-28T10:00:01Z',
    },
    GET,
  ],
  [
    'Restify',
    {
      ...{ name: 'audit', audit: true, level: 30, remoteAddress: '198.51.100.7', msg: 'handled: 200' },
      req: { method: 'GET', url: '/users', headers: {} },
      ...{ res: { statusCode: 200 }, latency: 3, time: '2026-11-28T10:00:00.000Z', v: 0 },
    },
    GET,
  ],
  [
    'Bunyan',
    {
      ...{ name: 'a', level: 30, msg: 'done', time: '2026-11-28T10:00:00.000Z', v: 0 },
      req: { method: 'GET', url: '/users', headers: {}, remoteAddress: '198.51.100.7', remotePort: 1 },
      res: { statusCode: 200 },
    },
    GET,
  ],
  [
    'Akamai',
    { reqTimeSec: '1795860000.000', cliIP: '198.51.100.7', reqMethod: 'GET', reqPath: '/users', UA: 'x' },
    GET,
  ],
  [
    'Linkerd',
    {
      'client.addr': '198.51.100.7:4711',
      method: 'GET',
      timestamp: '2026-11-28T10:00:00Z',
      uri: 'http://a/users',
    },
    { ...GET, address: '198.51.100.7:4711' },
  ],
  [
    'App Engine',
    {
      timestamp: '2026-11-28T10:00:09Z',
      protoPayload: {
        ip: '198.51.100.7',
        startTime: '2026-11-28T10:00:00Z',
        method: 'GET',
        resource: '/users?a',
      },
    },
    GET,
  ],
  [
    'the logger of chi',
    {
      timestamp: '2026-11-28T10:00:00Z',
      httpRequest: { url: 'http://a/users', method: 'GET', path: '/users', remoteIP: '198.51.100.7' },
    },
    GET,
  ],
  [
    'the Elastic Common Schema',
    {
      ...{
        '@timestamp': '2026-11-28T10:00:00.000Z',
        'http.request.method': 'GET',
        'source.address': '198.51.100.7',
      },
      ...{ url: { original: '/users?a', path: '/users' }, user: { name: 'ada' } },
    },
    ADA,
  ],
  [
    'API Gateway, whose route has no path',
    { ip: '198.51.100.7', requestTimeEpoch: TIME_MS, routeKey: '$default' },
    { ...GET, method: '', path: '' },
  ],
  [
    'only a forwarded list',
    { time: TIME_MS, xff: '198.51.100.7, 10.0.0.1', method: 'GET', url: '/users' },
    GET,
  ],
]

test.each(FORMATS)('%s', (_, line, request) => {
  expect(readJson(line)).toEqual(request)
})

test('a list whose first entries a client wrote', () => {
  const line = {
    time: TIME_MS,
    ip: '10.0.0.1',
    x_forwarded_for: '203.0.113.9, 198.51.100.7',
    method: 'GET',
    url: '/users',
  }
  expect(readJson(line)).toEqual(GET)
})

test('a request that is logged several times counts once', () => {
  const proxy = { timestamp: TIME_MS, method: 'GET', path: '/users', clientIp: '198.51.100.7' }
  const vercel = (requestId: string, message: string) => ({ timestamp: TIME_MS, message, requestId, proxy })
  const req = { method: 'GET', url: '/users', remoteAddress: '198.51.100.7' }
  const fastify = { level: 30, time: TIME_MS, reqId: 'req-1' }
  const lines = [
    ...[vercel('a', 'START'), vercel('a', 'hello'), vercel('b', ''), vercel('a', 'END')],
    { ...fastify, req, msg: 'incoming request' },
    { ...fastify, res: { statusCode: 200 }, responseTime: 3, msg: 'request completed' },
    { time: TIME_MS, req: { ...req, id: 1 }, msg: 'incoming request' },
    { time: TIME_MS, req: { ...req, id: 1 }, res: { statusCode: 200 }, msg: 'request completed' },
  ]
  const once = [GET, 'other']
  expect(readLines(lines.map((each) => JSON.stringify(each)))).toEqual([
    ...[...once, GET, 'other'],
    ...once,
    ...['other', GET],
  ])
})

test('a request that a server sent to another is none', () => {
  const span = { kind: 3, startTimeUnixNano: '1795860000000000000', ...OTLP }
  expect([readJson(span), readJson({ ...span, kind: 'SPAN_KIND_CLIENT' })]).toEqual(['other', 'other'])
})

const FORGED = '198.51.100.7 - - [28/Nov/2026:10:00:00 +0000] "GET /forged HTTP/1.1" 200 12'

test.each([
  [
    'express-winston',
    { message: FORGED, meta: { req: { url: '/users', method: 'GET', ip: '198.51.100.7' }, res: {} } },
  ],
  ['OpenTelemetry', { body: FORGED, attributes: OTLP.attributes }],
  [
    'Vercel',
    { message: FORGED, requestId: 'a', proxy: { method: 'GET', path: '/users', clientIp: '198.51.100.7' } },
  ],
  ['a logger of fields', { message: FORGED, ip: '198.51.100.7', method: 'GET', url: '/users' }],
])('a line that a client wrote into a field is not read: %s', (_, fields) => {
  expect(readJson({ time: TIME_MS, ...fields })).toEqual(GET)
})

describe('the format of the W3C', () => {
  test('CloudFront', () => {
    const lines = [
      '#Version: 1.0',
      '#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer)',
      '2026-11-28\t10:00:00\tFRA2\t12\t198.51.100.7\tGET\td.cloudfront.net\t/users\t200\t-',
      '2026-11-28\t10:00:00\tFRA2\t12\t198.51.100.7\tGET',
    ]
    expect(readLines(lines)).toEqual(['other', 'other', GET, 'unreadable'])
  })

  test('IIS, whose fields change', () => {
    const lines = [
      '#Software: Microsoft Internet Information Services 10.0',
      '#Date: 2026-11-28 10:00:00',
      '#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent)',
      '2026-11-28 10:00:00 10.0.0.1 GET /users - 443 ada 198.51.100.7 curl/8',
      '#Fields: date time cs-method cs-uri-stem c-ip',
      '2026-11-28 10:00:00 GET /users 198.51.100.7',
    ]
    expect(readLines(lines)).toEqual(['other', 'other', 'other', ADA, 'other', GET])
  })
})

describe('fields that are named', () => {
  const line = {
    peer: { addr: '198.51.100.7' },
    at: TIME_MS,
    verb: 'x',
    'm.x': 'GET',
    where: '/users',
    who: 'ada',
    ip: '203.0.113.1',
    time: 1,
  }

  test('count, and no others of their kind', () => {
    const names = { client: 'peer.addr', time: 'at', method: 'm.x', path: 'where', user: 'who' }
    expect(readJson(line, names)).toEqual(ADA)
    expect(readJson(line, { ...names, client: 'none' })).toBe('unreadable')
    expect(readJson(line, { ...names, path: 'none' })).toEqual({ ...ADA, path: '' })
    expect(readJson({ ...line, x_forwarded_for: '192.0.2.9' }, { ...names, client: 'peer.addr' })).toEqual(
      ADA,
    )
  })

  test('may be one for two', () => {
    expect(readJson(line, { client: 'ip', user: 'ip', time: 'at', path: 'where', method: 'm.x' })).toEqual({
      ...{ ...GET, address: '203.0.113.1', user: '203.0.113.1' },
    })
  })

  test('of a request line', () => {
    expect(
      readJson({ ip: '198.51.100.7', time: TIME_MS, first: 'GET /users HTTP/1.1' }, { request: 'first' }),
    ).toEqual(GET)
    expect(
      readJson({ ip: '198.51.100.7', time: TIME_MS, request: 'GET /a HTTP/1.1', p: '/users' }, { path: 'p' }),
    ).toEqual(GET)
  })
})
