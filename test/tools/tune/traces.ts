import { exponential, latencyFrom, type Random, randomFrom } from '../simulate/random.js'
import { DAY_MS, type Trace, type TracedRequest } from './trace.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Returns names for clients, such as addresses of the network for benchmarks (RFC 2544). */
function names(count: number, nameOf: (i: number) => string): readonly string[] {
  return Array.from({ length: count }, (_, i) => nameOf(i))
}

const homeAddress = (i: number) => `198.18.${i >> 8}.${i & 255}`
const attackerAddress = (i: number) => `198.19.${i >> 8}.${i & 255}`

/** Returns requests at an even rate, each at a random moment of its turn. */
function steady(random: Random, client: string, fromMs: number, lengthMs: number, perMinute: number) {
  const count = Math.round((perMinute * lengthMs) / MINUTE_MS)
  return Array.from({ length: count }, (_, i): TracedRequest => {
    return { client, atMs: Math.min(DAY_MS - 1, fromMs + ((i + random()) * lengthMs) / count) }
  })
}

/** Returns a visit: pages with pauses between them, each with some requests at once. */
function visit(random: Random, client: string, pages: number, mostAtOnce: number): TracedRequest[] {
  const requests: TracedRequest[] = []
  let atMs = random() * (DAY_MS - HOUR_MS)
  for (let page = 0; page < pages && atMs < DAY_MS; page++) {
    const atOnce = 1 + Math.floor(random() * mostAtOnce)
    for (let i = 0; i < atOnce; i++) requests.push({ client, atMs })
    atMs += exponential(random, 1 / 8000)
  }
  return requests
}

/** A public API, by IP address. For 90 seconds at night, a scraper reads it from 40 addresses. */
export function scrapedApi(seed: number, perMinute = 240): Trace {
  const random = randomFrom(seed)
  const pages = latencyFrom(random, 4, 40)
  const scrapers = names(40, attackerAddress)
  const homes = names(800, homeAddress)
  const visits = homes.flatMap((client) => visit(random, client, Math.ceil(pages()), 6))
  const scraped = scrapers.flatMap((client) =>
    steady(random, client, 3 * HOUR_MS, 1.5 * MINUTE_MS, perMinute),
  )
  return {
    title: `a public API, scraped from 40 addresses at ${perMinute} a minute each`,
    options: ['--window', '1m'],
    ...{ windowMs: MINUTE_MS, key: 'ip', request: 'GET /items' },
    requests: [...visits, ...scraped],
    attackers: { 'scraping addresses': new Set(scrapers) },
    unusual: {},
  }
}

/**
 * A login, by IP address: homes, offices in which up to 120 people sign in at nine o'clock, three addresses
 * that guess a password each second, and 150 that guess slowly.
 */
export function attackedLogin(seed: number, mostPeople = 120): Trace {
  const random = randomFrom(seed)
  /** One person signs in, and mistypes now and then. */
  function signIn(client: string, atMs: number): TracedRequest[] {
    const requests = [{ client, atMs }]
    while (random() < 0.15) requests.push({ client, atMs: atMs + requests.length * 5000 })
    return requests
  }
  const homes = names(1200, homeAddress)
  const offices = names(12, (i) => homeAddress(60_000 + i))
  const fast = names(3, attackerAddress)
  const slow = names(150, (i) => attackerAddress(1000 + i))
  return {
    title: `a login with offices of up to ${mostPeople} people and brute force`,
    options: ['--window', '10m', '--only', 'POST /login'],
    ...{ windowMs: 10 * MINUTE_MS, key: 'ip', request: 'POST /login' },
    requests: [
      ...homes.flatMap((client) => signIn(client, random() * (DAY_MS - HOUR_MS))),
      ...offices.flatMap((client) => {
        const people = Math.ceil(mostPeople * (0.25 + 0.75 * random()))
        return names(people, () => client).flatMap((each) => signIn(each, (8.5 + random()) * HOUR_MS))
      }),
      ...fast.flatMap((client) => steady(random, client, 2 * HOUR_MS, 30 * MINUTE_MS, 60)),
      ...slow.flatMap((client) => steady(random, client, 2 * HOUR_MS, HOUR_MS, 0.5)),
    ],
    attackers: { 'fast guessers': new Set(fast), 'slow guessers': new Set(slow) },
    unusual: { 'the offices': new Set(offices) },
  }
}

/**
 * An API for businesses, by user: a free plan, a paid plan, one customer with a batch job at night, and a
 * stolen key.
 */
export function businessApi(seed: number, batchSize = 1500): Trace {
  const random = randomFrom(seed)
  const ofPlan = (client: string, least: number, most: number) => {
    const perMinute = least * (most / least) ** random()
    return steady(random, client, random() * (DAY_MS - 3 * MINUTE_MS), MINUTE_MS, perMinute)
  }
  return {
    title: `a business API with plans, a batch of ${batchSize} and a stolen key`,
    options: ['--window', '1m', '--key', 'user'],
    ...{ windowMs: MINUTE_MS, key: 'user', request: 'GET /orders' },
    requests: [
      ...names(120, (i) => `free-${i}`).flatMap((client) => ofPlan(client, 4, 40)),
      ...names(30, (i) => `paid-${i}`).flatMap((client) => ofPlan(client, 250, 600)),
      ...steady(random, 'batch', HOUR_MS, MINUTE_MS, batchSize),
      ...steady(random, 'stolen', 2 * HOUR_MS, MINUTE_MS, 9000),
    ],
    attackers: { 'stolen keys': new Set(['stolen']) },
    unusual: { 'the batch jobs': new Set(['batch']) },
  }
}

/** Traces on which a proposal should deny all loud attackers, and nobody else. */
export const TRACES = [scrapedApi, attackedLogin, businessApi] as const

/** Traces whose attackers ask for little more than others, or whose honest clients ask for far more. */
export const hardTraces = (seed: number): readonly Trace[] => [
  scrapedApi(seed, 120),
  attackedLogin(seed, 600),
  businessApi(seed, 5000),
]
