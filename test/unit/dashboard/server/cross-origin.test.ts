import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { checkOrigin } from '../../../../src/dashboard/server/cross-origin.js'

const host = 'app.example:3000'

/** As an option lists them. */
const hosts = ['admin.example', 'other.example:8080']

const CASES: readonly (readonly [string, IncomingHttpHeaders, boolean])[] = [
  [
    'a browser on the page itself',
    { 'sec-fetch-site': 'same-origin', origin: `https://${host}`, host },
    false,
  ],
  ['a person who types the address', { 'sec-fetch-site': 'none', host }, false],
  ['another site', { 'sec-fetch-site': 'cross-site', host }, true],
  ['another subdomain', { 'sec-fetch-site': 'same-site', host }, true],
  [
    'another subdomain that forges no Origin',
    { 'sec-fetch-site': 'same-site', origin: `https://${host}`, host },
    true,
  ],
  ['a value that no browser sends', { 'sec-fetch-site': '', host }, true],
  [
    'a proxy that changed Host, by Sec-Fetch-Site',
    { 'sec-fetch-site': 'same-origin', origin: 'https://x', host },
    false,
  ],
  ['an old browser on the page itself', { origin: `http://${host}`, host }, false],
  ['an old browser on another site', { origin: 'http://evil.example', host }, true],
  ['an old browser on another port', { origin: 'http://app.example', host }, true],
  ['a browser on a listed host, behind a proxy', { origin: 'http://admin.example', host }, false],
  ['the same with a port', { origin: 'http://other.example:8080', host }, false],
  ['a browser on another port of a listed name', { origin: 'http://other.example', host }, true],
  ['another subdomain of a listed name', { origin: 'http://a.admin.example', host }, true],
  [
    'another site, by Sec-Fetch-Site, with a listed Origin',
    { 'sec-fetch-site': 'cross-site', origin: 'http://admin.example', host },
    true,
  ],
  [
    'an old browser on the page itself, over HTTP/2',
    { origin: `https://${host}`, ':authority': host },
    false,
  ],
  ['a sandboxed frame', { origin: 'null', host }, true],
  ['an Origin that is no URL', { origin: host.replace(':', ' '), host }, true],
  ['an Origin without Host', { origin: 'http://evil.example' }, true],
  ['a client that is no browser', { host }, false],
]

test.each(CASES)('a request of %s (%j) is cross-origin: %s', (_, headers, expected) => {
  const check = expect(() => checkOrigin({ headers } as IncomingMessage, hosts))
  if (expected) check.toThrow('The request comes from another site.')
  else check.not.toThrow()
})

test('only if a proxy may be the cause does the error say what to do about it', () => {
  const messageFor = (headers: IncomingHttpHeaders) => {
    try {
      checkOrigin({ headers } as IncomingMessage, [])
      return 'none'
    } catch (error) {
      return (error as Error).message
    }
  }
  const hinted = messageFor({ origin: 'http://admin.example:8080', host: '127.0.0.1:3000' })
  expect(hinted).toContain('Its Origin is "admin.example:8080", its Host "127.0.0.1:3000".')
  expect(hinted).toContain('write hosts: ["admin.example:8080"] in the options of dashboard.')
  for (const headers of [
    { origin: 'null', host },
    { 'sec-fetch-site': 'cross-site', origin: 'http://a.b', host },
  ])
    expect(messageFor(headers)).toBe('The request comes from another site.')
})
