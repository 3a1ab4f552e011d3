import type { Incident } from './incident.js'
import type { Sent } from './traffic.js'

/** Addresses from the ranges for documentation (RFC 5737), as many as are wanted. */
const addressIn = (network: string, i: number) => `${network}.${1 + (i % 250)}`
/** An address of a botnet: each is in a network of its own. */
const anywhere = (i: number) => `10.${Math.floor((i % 212) / 100)}.${i % 212}.7`

const scraping = (i: number): Sent => ({
  method: 'GET',
  path: `/products/${i % 1000}`,
  from: addressIn('203.0.113', i % 40),
})

const login = (username: string, i: number): Sent => ({
  method: 'POST',
  path: '/login',
  from: anywhere(i),
  form: `username=${username}&password=guess-${i}`,
})

/** Each account is tried once by each address: 24 accounts by 212 addresses. */
const stuffing = (i: number): Sent => login(`customer-${i % 24}`, Math.floor(i / 24) + 53 * (i % 4))

/** A network of a /56 in turn, and in it another address each time. */
const rotating = (i: number): Sent => ({
  method: 'GET',
  path: `/products/${i % 1000}`,
  from: `2001:db8:7:${(i % 16) * 256}::${(1 + Math.floor(i / 16)).toString(16)}`.replace(
    /7:(\d+)/,
    (_, subnet) => `7:${Number(subnet).toString(16)}`,
  ),
})

const searching = (): Sent => ({
  method: 'POST',
  path: '/search',
  from: '192.0.2.7',
  headers: { 'x-api-key': 'acme' },
})

export const scraped: Incident = {
  name: 'a scraper over 40 addresses',
  begin: async ({ traffic }) => traffic.start(120, scraping),
  limiter: 'api',
  says: [/40 addresses in 203\.0\.113\.0\/24/, /GET \/products\/:id/],
  clicks: [/^Block .*203\.0\.113\.0\/24/, /^Block/],
  isSolved: async ({ traffic }) => (await traffic.probe(scraping(0))) === 403,
}

export const accountAttacked: Incident = {
  name: 'a botnet on one account',
  begin: async ({ traffic }) => traffic.start(40, (i) => login('ada', i)),
  limiter: 'login',
  says: [/under attack/, /from (\d+) addresses in \1 networks/, /POST \/login/],
  saysNot: /\/24/,
  clicks: [/^Block \w+ for 1 hour/, /^Block/],
  isSolved: async ({ traffic }) => (await traffic.probe(login('ada', 0))) === 403,
}

export const credentialsStuffed: Incident = {
  name: 'credential stuffing by a botnet',
  begin: async ({ traffic }) => traffic.start(120, stuffing),
  limiter: 'login',
  says: [/(24 accounts|24 clients)/, /from \d+ addresses in \d+ networks/, /POST \/login/],
  saysNot: /\/24/,
  clicks: [/^Edit the limit/],
  isSolved: async (_, page) => (await page.getByText('Reason, for the history').count()) > 0,
}

export const addressesRotated: Incident = {
  name: 'a bot that rotates its IPv6 addresses within a network',
  begin: async ({ traffic }) => traffic.start(120, rotating),
  limiter: 'api',
  says: [/\d+ addresses in 2001:db8:7::\/48/, /GET \/products\/:id/],
  clicks: [/^Block .*2001:db8:7::\/48/, /^Block/],
  isSolved: async ({ traffic }) => (await traffic.probe(rotating(0))) === 403,
}

export const planTooSmall: Incident = {
  name: 'a customer denied by a plan that is too small',
  begin: async ({ traffic }) => traffic.start(8, searching),
  limiter: 'search',
  says: [/at its limit of 50 per 10s/, /POST \/search/, /Raise its limit to \d+ for 1 day/],
  clicks: [/^Raise/, /^Raise/],
  isSolved: async ({ traffic }) => (await traffic.probe(searching())) === 200,
}
