import { whole } from '../../bench/harness/table.js'
import { DEFAULTS, type Scenario } from './scenario.js'

/** Scenarios that answer one question. */
export interface Group {
  readonly title: string
  readonly scenarios: Readonly<Record<string, Scenario>>
}

function group(title: string, common: Partial<Scenario>, each: Record<string, Partial<Scenario>>): Group {
  const scenarios = Object.entries(each).map(([name, own]) => [name, { ...DEFAULTS, ...common, ...own }])
  return { title, scenarios: Object.fromEntries(scenarios) }
}

const PER_PROCESS = 2500 // requests a second

const fleet = (rate: number, requests: number): Partial<Scenario> => {
  return { rate, processes: Math.min(1000, rate / PER_PROCESS), seconds: requests / rate }
}

const below = (rate: number): Partial<Scenario> => ({ ...fleet(rate, 40_000), limit: 2 * rate })
const over: Partial<Scenario> = { ...fleet(25_000, 50_000), limit: 10_000 }

/** What `npm run simulate` prints. */
export const GROUPS: readonly Group[] = [
  group(
    `How many Redis nodes? ${whole(PER_PROCESS)} requests a second in each process, 100,000 clients below their limit`,
    { keys: 100_000 },
    {
      '10,000/s, 1 node': fleet(10_000, 50_000),
      '50,000/s, 1 node': fleet(50_000, 60_000),
      '100,000/s, 1 node': fleet(100_000, 60_000),
      '100,000/s, 3 nodes': { ...fleet(100_000, 60_000), nodes: 3 },
      '100,000/s, 6 nodes': { ...fleet(100_000, 60_000), nodes: 6 },
      '1,000,000/s, 30 nodes': { ...fleet(1_000_000, 60_000), nodes: 30 },
      '1,000,000/s, 45 nodes': { ...fleet(1_000_000, 60_000), nodes: 45 },
      '1,000,000/s, 60 nodes': { ...fleet(1_000_000, 60_000), nodes: 60 },
    },
  ),
  group(
    `One hot key on one Redis: ${whole(PER_PROCESS)} requests a second in each process, a limit for each second`,
    { keys: 1, policy: 'fixed-window', window: 1000 },
    {
      'below the limit, 50,000/s': below(50_000),
      'below the limit, 50,000/s, leased': { ...below(50_000), lease: true },
      'below the limit, 200,000/s': below(200_000),
      'below the limit, 200,000/s, leased': { ...below(200_000), lease: true },
      'below the limit, 1,000,000/s, leased': { ...below(1_000_000), seconds: 0.3, lease: true },
      '25,000/s, limit 10,000, no denial cache': { ...over, 'deny-cache': 0 },
      '25,000/s, limit 10,000': over,
      '25,000/s, limit 10,000, leased': { ...over, lease: true },
    },
  ),
  group(
    'Clients over their limit on Redis: 20,000 requests a second in 10 processes, 1,000 clients, 10 requests a second each',
    { keys: 1000, limit: 10, window: 1000, seconds: 2 },
    {
      'evenly busy, no denial cache': { 'deny-cache': 0 },
      'evenly busy': {},
      'Zipf, no denial cache': { zipf: 1, 'deny-cache': 0 },
      Zipf: { zipf: 1 },
      'Zipf, 1,000 processes': { zipf: 1, processes: 1000 },
    },
  ),
  group(
    'Faults: 5,000 requests a second in 10 processes, 500 clients, 20 requests in 4 s each, a Cluster of three nodes',
    { keys: 500, limit: 20, window: 4000, rate: 5000, seconds: 9, nodes: 3 },
    {
      'no fault': {},
      'a node 50 times slower': { slow: 50 },
      "a node lost for 3 s, 'local'": { lost: true },
      "a node lost for 3 s, 'allow'": { lost: true, 'on-store-error': 'allow' },
    },
  ),
  group(
    'Clock skew on memcached, which has the clocks of 10 processes: fixed windows of 10 requests a second, twice as many sent',
    {
      store: 'memcached',
      policy: 'fixed-window',
      rate: 8000,
      keys: 400,
      limit: 10,
      window: 1000,
      seconds: 5,
    },
    {
      'clocks agree': {},
      'clocks up to 200 ms apart': { skew: 100 },
      'clocks up to 2 s apart': { skew: 1000 },
    },
  ),
  group(
    'PostgreSQL: when is a database enough? 10,000 clients below their limit, 4 processes',
    { store: 'postgres', processes: 4 },
    {
      '500/s': { rate: 500, seconds: 20 },
      '2,000/s': { rate: 2000 },
      '5,000/s': { rate: 5000, seconds: 4 },
      '10,000/s': { rate: 10_000, seconds: 3 },
      '50,000/s': { rate: 50_000, seconds: 0.6 },
    },
  ),
]
