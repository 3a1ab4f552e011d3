import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isCrossOrigin } from '../../../../src/dashboard/server/cross-origin.js'

const host = 'app.example:3000'

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
  ['a sandboxed frame', { origin: 'null', host }, true],
  ['an Origin that is no URL', { origin: host.replace(':', ' '), host }, true],
  ['an Origin without Host', { origin: 'http://evil.example' }, true],
  ['a client that is no browser', { host }, false],
]

test.each(CASES)('a request of %s (%j) is cross-origin: %s', (_, headers, expected) => {
  expect(isCrossOrigin({ headers } as IncomingMessage)).toBe(expected)
})
